"""Charts: what they show is read from results, and the same figures give the same file."""

import json
import xml.etree.ElementTree as ET

import pytest
from benchmarks.charts import LossPanel, difference_panels, digest_mark, draw, loss_panels
from benchmarks.harness import Benchmark, Run

from kgraft.measure import Difference

SUMS = Benchmark(name="graft_sums", measures="adding", minutes=1, off="no model")


@pytest.fixture
def results(tmp_path):
    with Run("graft_sums", protocol="", data={}, folder=tmp_path) as run:
        run.difference("good", Difference(0.5, 0.25, 0.125, 0.375))
        run.difference("hidden", Difference(8.0, 9.0, -1.5, 0.5))
    with Run("graft_speed", protocol="", data={}, folder=tmp_path) as run:
        run.figure("speedup", 3.0)
    return tmp_path


def words_of(file):
    return [(node.text or "").strip() for node in ET.parse(file).iter()]


def test_every_result_with_differences_is_a_panel(results):
    [panel] = difference_panels(results, "graft_*.json", [SUMS])
    assert (panel.title, panel.off) == ("graft sums", "no model")
    assert [task.task for task in panel.tasks] == ["good", "hidden"]
    assert difference_panels(results, "joint_*.json", [SUMS]) == []


def test_a_picture_names_the_off_side_and_every_interval(results):
    panels = difference_panels(results, "graft_*.json", [SUMS])
    draw(panels, results / "one.svg")
    words = words_of(results / "one.svg")
    assert "off: a rule without a model: the first sense that the graph lists" in words
    assert "+0.25 (+0.125 to +0.375)" in words
    assert {"good", "hidden", digest_mark(panels)} <= set(words)
    draw(panels, results / "other.svg")
    assert (results / "one.svg").read_bytes() == (results / "other.svg").read_bytes()


def test_every_contribution_is_drawn(tmp_path):
    figures = {
        "types_all": 0.8,
        "types_contribution_of_words": 0.04,
        "types_contribution_of_mentions": -0.02,
        "relations_contribution_of_words": 0.01,
    }
    (tmp_path / "joint_losses.json").write_text(json.dumps({"figures": figures}))
    panels = loss_panels(tmp_path / "joint_losses.json")
    assert panels == [
        LossPanel("types", [("words", 0.04), ("mentions", -0.02)]),
        LossPanel("relations", [("words", 0.01)]),
    ]
    draw(panels, tmp_path / "losses.svg")
    assert {"+0.040", "-0.020", "+0.010"} <= set(words_of(tmp_path / "losses.svg"))


def test_without_a_result_nothing_is_shown(tmp_path):
    assert loss_panels(tmp_path / "none.json") == []
    (tmp_path / "other.json").write_text(json.dumps({"figures": {"speedup": 3.0}}))
    assert loss_panels(tmp_path / "other.json") == []


def test_other_figures_have_another_mark():
    panels = [LossPanel("types", [("words", 0.04)])]
    assert digest_mark(panels) == digest_mark([LossPanel("types", [("words", 0.04)])])
    assert digest_mark(panels) != digest_mark([LossPanel("types", [("words", 0.05)])])
