"""Reliability: points are mean scores and shares of right links, in bins of the score."""

import numpy as np
import pytest
from benchmarks.link.reliability import draw_reliability, reliability


def test_points_are_means_of_their_bins():
    scores = np.array([0.95] * 10 + [0.3] * 12 + [0.6])
    right = np.array([1] * 9 + [0] + [1] * 3 + [0] * 9 + [1], bool)
    mean, share, count = reliability(scores, right)
    assert mean.tolist() == pytest.approx([0.3, 0.95])  # one link alone is no point
    assert share.tolist() == pytest.approx([0.25, 0.9])
    assert count.tolist() == [12, 10]


def test_where_there_are_few_links_all_of_them_are_shown():
    _, _, count = reliability(np.array([0.3, 0.95, 0.95]), np.array([True, True, False]))
    assert count.tolist() == [1, 2]


def test_the_same_scores_give_the_same_picture(tmp_path):
    judged = {"news": (np.array([0.3, 0.9]), np.array([True, False]))}
    judged["none"] = (np.zeros(0), np.zeros(0, bool))
    for name in ("one.svg", "other.svg"):
        draw_reliability(judged, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
