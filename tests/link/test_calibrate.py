"""The threshold that suits a graph and texts: the F1 to expect, and where it is kept."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick
from tests.link.tiny import link_model

from kgraft.errors import BadInput
from kgraft.link.calibrate import (
    THRESHOLDS,
    best_threshold,
    calibrate_threshold,
    expected_f1,
    save_threshold,
    saved_threshold,
    threshold_file,
)
from kgraft.link.linker import Linker

SCORES = st.lists(st.floats(0, 1, width=32), max_size=12).map(lambda row: np.array(row, np.float32))
TEXTS = ["Paris is in Texas.", "who rules Berlin?", "", "New York City pays in euro"]


def naive_f1(scores, threshold):
    """F1(t) = 2 Σ_{score ≥ t} score / (number kept + Σ score)."""
    kept = [score for score in scores if score >= threshold]
    return 2 * sum(kept) / max(len(kept) + sum(scores), 1e-9)


@given(SCORES, st.lists(st.floats(0, 1), max_size=6))
@quick
def test_the_f1_to_expect_is_that_of_the_sums(scores, thresholds):
    expected = [naive_f1(scores.tolist(), threshold) for threshold in thresholds]
    assert expected_f1(scores, np.array(thresholds)).tolist() == pytest.approx(expected)


@given(SCORES)
@quick
def test_the_best_threshold_is_the_highest_of_the_best_ones(scores):
    tried = [naive_f1(scores.tolist(), threshold) for threshold in THRESHOLDS.tolist()]
    best = best_threshold(scores)
    chosen = tried[THRESHOLDS.tolist().index(best)]
    assert chosen == pytest.approx(max(tried))
    higher = [f1 for t, f1 in zip(THRESHOLDS, tried, strict=True) if t > best]
    assert all(f1 < chosen + 1e-9 for f1 in higher)


def test_certain_links_are_kept_and_doubtful_ones_left_out():
    scores = np.array([0.99] * 8 + [0.12] * 3, np.float32)
    assert best_threshold(scores) == 0.7
    assert best_threshold(np.full(9, 0.3, np.float32)) == pytest.approx(0.3, abs=0.011)


@pytest.fixture
def own(graph, encoder_folder, own_cache):
    """A linker of one's own, and nothing in the cache."""
    return Linker(graph, link_model(encoder_folder, names_decide=True, threshold=0.45))


def test_a_calibrated_threshold_is_used_for_this_graph_and_model(own, graph, encoder_folder):
    assert own.threshold == 0.45
    threshold = calibrate_threshold(own, TEXTS)
    assert own.threshold == threshold != 0.45
    again = Linker(graph, link_model(encoder_folder, names_decide=True))
    assert again.threshold == threshold
    other = Linker(graph, link_model(encoder_folder, seed=2, threshold=0.45))
    assert other.threshold == 0.45
    stored = json.loads(threshold_file(graph, own.model).read_text())
    assert stored == {"threshold": threshold, "texts": len(TEXTS)}


def test_the_calibrated_threshold_has_the_best_f1_to_expect(own):
    threshold = calibrate_threshold(own, TEXTS)
    links = [link.score for links in own.link(TEXTS, threshold=0.1) for link in links]
    assert threshold == best_threshold(np.array(links, np.float32))


def test_texts_without_a_possible_link_say_nothing_about_a_threshold(own, graph):
    for texts in ([], ["nothing of the kind"]):
        with pytest.raises(BadInput, match="no entity"):
            calibrate_threshold(own, texts)
    assert own.threshold == 0.45
    assert saved_threshold(graph, own.model) is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"threshold": "high"}'])
def test_a_damaged_file_is_as_good_as_none(own, graph, content):
    save_threshold(graph, own.model, 0.2, 5)
    assert saved_threshold(graph, own.model) == 0.2
    threshold_file(graph, own.model).write_text(content)
    assert saved_threshold(graph, own.model) is None
