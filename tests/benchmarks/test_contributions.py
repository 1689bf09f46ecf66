"""The picture of what each loss contributes."""

import json
from xml.etree import ElementTree as ET

from benchmarks.contributions import contributions_picture


def test_every_contribution_is_drawn_to_its_side(tmp_path):
    path = tmp_path / "joint_losses.json"
    figures = {
        "types_all": 0.8,
        "types_contribution_of_words": 0.04,
        "types_contribution_of_mentions": -0.02,
        "relations_contribution_of_words": 0.01,
    }
    path.write_text(json.dumps({"figures": figures}))
    drawn = contributions_picture(path)
    ET.fromstring(drawn)
    assert drawn.count("<rect") == 1 + 3
    assert "+0.040" in drawn
    assert "-0.020" in drawn
    assert drawn.count(">words<") == 2


def test_nothing_to_draw(tmp_path):
    assert contributions_picture(tmp_path / "none.json") is None
    (tmp_path / "other.json").write_text(json.dumps({"figures": {"speedup": 3.0}}))
    assert contributions_picture(tmp_path / "other.json") is None
