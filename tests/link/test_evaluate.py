"""Evaluation: links at a threshold, and the threshold at which they are best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import some

from kgraft.graph.annotated import Annotated
from kgraft.link.evaluate import THRESHOLDS, best_threshold, choose_links, evaluate, find_links
from kgraft.link.knowledge import Knowledge
from kgraft.link.score import Found

TEXTS = ["Paris pays in euro.", "", "We went to New York City, 東京 and Zürich."]
SPAN = st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 4), st.integers(0, 10))


def found(*spans):
    """Make links of (text, start, end, entity, score, named)."""
    columns = [np.array(column) for column in zip(*spans, strict=True)]
    return Found(*columns, np.zeros((len(spans), 1), np.int64))


def marked(*spans):
    columns = np.array(spans, np.int64).reshape(-1, 4).T
    return Annotated(["?" * 20] * 3, *columns)


def test_what_is_found_becomes_the_linkers_links(linker):
    every = find_links(linker.model, linker.knowledge, TEXTS)
    assert (np.diff(every.text) >= 0).all()
    assert (every.candidates[:, 0] == every.entity).all()
    for threshold in (0.0, 0.5):
        links = choose_links(every, threshold)
        expected = [
            (number, link.start, link.end, link.entity.index)
            for number, of_text in enumerate(linker.link(TEXTS, threshold=threshold))
            for link in of_text
        ]
        columns = (links.text, links.start, links.end, links.entity)
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


def test_named_are_names_written_like_names(by_name, graph):
    every = find_links(by_name.model, by_name.knowledge, TEXTS)
    spans = zip(every.text, every.start, every.end, every.named, strict=True)
    named = {TEXTS[text][start:end] for text, start, end, flag in spans if flag}
    assert named == {"Paris", "New York", "York", "New York City", "東京", "Zürich"}


def test_without_entities_nothing_is_found(nothing, model):
    every = find_links(model, Knowledge.of(nothing, model), TEXTS)
    assert len(choose_links(every, 0.0).text) == 0


@given(spans=st.lists(SPAN, min_size=1, max_size=20))
@some
def test_links_of_one_text_do_not_hinder_those_of_another(spans):
    spans = sorted((t, a, a + size, 0, score / 10, True) for t, a, size, score in spans)
    together = choose_links(found(*spans), 0.3)
    apart = []
    for number in {span[0] for span in spans}:
        alone = choose_links(found(*(span for span in spans if span[0] == number)), 0.3)
        apart += zip(alone.text, alone.start, alone.end, alone.score, strict=True)
    assert apart == list(
        zip(together.text, together.start, together.end, together.score, strict=True)
    )


def test_where_annotation_is_partial_unmarked_names_do_not_count():
    every = found(
        (0, 0, 5, 1, 0.9, True), (0, 6, 9, 2, 0.9, True), (1, 0, 4, 2, 0.9, False)
    )  # right, an unmarked name, and an unmarked word
    gold = marked((0, 0, 5, 1))
    assert evaluate(every, gold, 0.5)["weak_precision"] == pytest.approx(1 / 3)
    assert evaluate(every, gold, 0.5, partial=True)["weak_precision"] == pytest.approx(1 / 2)


def test_a_wrong_link_at_a_mark_counts_however_partial():
    every, gold = found((0, 0, 5, 2, 0.9, True)), marked((0, 0, 5, 1))
    assert evaluate(every, gold, 0.5, partial=True)["weak_precision"] == 0
    assert evaluate(every, gold, 0.95)["weak_f1"] == 0


def test_the_best_threshold_is_the_one_with_the_best_f1():
    every = found(
        (0, 0, 5, 1, 0.9, True), (0, 6, 9, 2, 0.6, True), (1, 0, 4, 2, 0.3, True)
    )  # right, right, wrong
    gold = marked((0, 0, 5, 1), (0, 6, 9, 2), (2, 0, 3, 1))
    best = best_threshold(every, gold, partial=False)
    tried = [evaluate(every, gold, float(t))["weak_f1"] for t in THRESHOLDS]
    assert best["weak_f1"] == max(tried) == pytest.approx(0.8)
    assert 0.3 < best["threshold"] <= 0.6
