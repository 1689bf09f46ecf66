"""What knowledge is worth, as a table and as a picture."""

import xml.etree.ElementTree as ET

import pytest
from benchmarks.harness import Run
from benchmarks.report import main, table
from benchmarks.worth import worths

from kgraft.measure import Difference


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "benchmarks" / "results"
    with Run("graft_sums", protocol="", data={}, folder=folder) as run:
        run.difference("good", Difference(0.5, 0.25, 0.125, 0.375))
        run.figure("other_difference", 3)
        run.difference("hidden", Difference(8.0, 9.0, -1.5, 0.5))
    return folder


def test_table(results):
    assert (
        table("graft_sums", results)
        == """\
| task | on | off | on minus off | 95 % interval |
| --- | --- | --- | --- | --- |
| good | 0.5 | 0.25 | +0.25 | +0.125 to +0.375 |
| hidden | 8 | 9 | -1 | -1.5 to +0.5 |

| figure | measured | goal | met |
| --- | --- | --- | --- |
| `other_difference` | 3 |  |  |
"""
    )


def test_what_is_sure(results):
    told = {"a": (2.0, 1.0, 1.0, 0.5, 1.5), "hidden": (1.0, 2.0, -1.0, -1.5, -0.5)}
    parts = ("on", "off", "difference", "low", "high")
    figures = {f"{t}_{p}": x for t, row in told.items() for p, x in zip(parts, row, strict=True)}
    assert [worth.sure for worth in worths(figures)] == [True, True]
    figures["a_low"], figures["hidden_high"] = -0.1, 0.1
    assert [worth.sure for worth in worths(figures)] == [False, False]


def test_the_picture_is_made_with_the_report(results, tmp_path):
    (tmp_path / "docs").mkdir()
    assert main(["--check"], root=tmp_path) == 1
    assert main([], root=tmp_path) == 0
    assert main(["--check"], root=tmp_path) == 0
    drawn = (tmp_path / "docs" / "graft-worth.svg").read_text()
    words = " ".join(node.text or "" for node in ET.fromstring(drawn).iter())
    assert "graft sums" in words
    assert "good" in words
    assert "hidden, less is better" in words
    assert "+0.25  (+0.125 to +0.375)" in words
