"""Links against marked mentions: which are right, and the figures that come of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import some

from kgraft.graph.annotated import Annotated
from kgraft.link.score import Found, figures, match, overlapping

SPAN = st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(1, 4), st.integers(0, 2))
SPANS = st.lists(SPAN, max_size=10)
FLAGS = st.lists(st.booleans(), min_size=10, max_size=10)


def columns(spans):
    text, start, size, entity = np.array(spans, np.int64).reshape(-1, 4).T
    return text, start, start + size, entity


def found(spans):
    rest = np.ones(len(spans)), np.ones(len(spans), bool), np.zeros((len(spans), 1), np.int64)
    return Found(*columns(spans), *rest)


def marked(spans):
    return Annotated(["?" * 12] * 3, *columns(spans))


def overlap(one, other):
    (text, start, size, _), (other_text, other_start, other_size, _) = one, other
    same = text == other_text
    return same and start < other_start + other_size and other_start < start + size


def weak(link, mention):
    return overlap(link, mention) and link[3] == mention[3]


@given(SPANS, SPANS)
@some
def test_pairs_are_all_that_overlap(links, mentions):
    pairs = {(i, j) for i, a in enumerate(links) for j, b in enumerate(mentions) if overlap(a, b)}
    link, mention = overlapping(found(links), marked(mentions))
    assert len(link) == len(pairs)
    assert set(zip(link.tolist(), mention.tolist(), strict=True)) == pairs


@given(SPANS, SPANS)
@some
def test_links_are_right_weakly_or_strongly(links, mentions):
    matched = match(found(links), marked(mentions))
    assert matched.touches.tolist() == [any(overlap(a, b) for b in mentions) for a in links]
    assert matched.weak.tolist() == [any(weak(a, b) for b in mentions) for a in links]
    assert matched.strong.tolist() == [a in mentions for a in links]
    assert matched.found.tolist() == [any(weak(a, b) for a in links) for b in mentions]


@given(SPANS, SPANS, FLAGS)
@some
def test_figures_are_those_of_their_definitions(links, mentions, flags):
    """Links that do not count are such as touch no mention."""
    matched = match(found(links), marked(mentions))
    counted = matched.touches | np.array(flags[: len(links)], bool)
    kept = [link for link, counts in zip(links, counted, strict=True) if counts]
    got = figures(matched, counted)
    for kind, right in (("weak", weak), ("strong", tuple.__eq__)):
        hits = sum(any(right(a, b) for b in mentions) for a in kept)
        seen = sum(any(right(a, b) for a in kept) for b in mentions)
        precision, recall = hits / max(len(kept), 1), seen / max(len(mentions), 1)
        assert got[f"{kind}_precision"] == pytest.approx(precision)
        assert got[f"{kind}_recall"] == pytest.approx(recall)
        f1 = 2 * precision * recall / (precision + recall) if hits else 0
        assert got[f"{kind}_f1"] == pytest.approx(f1)
        assert max(got.values()) <= 1


def test_two_right_links_in_one_mention_find_it_once():
    matched = match(found([(0, 0, 3, 1), (0, 4, 4, 1)]), marked([(0, 0, 8, 1)]))
    got = figures(matched, np.ones(2, bool))
    assert (got["weak_precision"], got["weak_recall"], got["weak_f1"]) == (1, 1, 1)


def test_some_of_the_links():
    links = found([(0, 1, 2, 3), (1, 5, 1, 2)])
    assert links.take(np.array([1])).start.tolist() == [5]


def test_without_links_and_mentions_all_figures_are_0():
    got = figures(match(found([]), marked([])), np.ones(0, bool))
    assert set(got.values()) == {0}
