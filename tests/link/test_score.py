"""Links against annotated mentions: which are right, and the figures that come of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts
from tests.graph.tiny import quick
from tests.link.tiny import mentions_of

from kgraft.graph import IGNORED, Match
from kgraft.link.score import compare, figures, overlapping

LINK = st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(1, 4), st.integers(0, 2))
GOLD = st.tuples(
    st.integers(0, 2), st.integers(0, 8), st.integers(1, 4), st.sampled_from([0, 1, 2, -1, IGNORED])
)
LINKS, GOLDS = st.lists(LINK, max_size=10), st.lists(GOLD, max_size=10)
FLAGS = st.lists(st.booleans(), min_size=10, max_size=10)


def links_of(rows):
    """Return links (text, start, size, entity) as mentions with a second, worse candidate."""
    return mentions_of(
        [
            (text, start, start + size, [(entity, Match.NAME, 0.9), (7, Match.NAME, 0.1)])
            for text, start, size, entity in rows
        ]
    )


def gold_of(rows):
    text, start, size, entity = np.array(rows, np.int64).reshape(-1, 4).T
    return annotated_texts(["?" * 12] * 3, text, start, start + size, entity)


def overlap(link, mention):
    (text, start, size, _), (other_text, other_start, other_size, _) = link, mention
    return text == other_text and start < other_start + other_size and other_start < start + size


def weak(link, mention):
    return overlap(link, mention) and link[3] == mention[3]


def is_ignored(link, golds):
    """A link on an ignored span counts only if it is right elsewhere."""
    on_ignored = any(overlap(link, gold) for gold in golds if gold[3] == IGNORED)
    return on_ignored and not any(weak(link, gold) for gold in golds)


@given(LINKS, GOLDS)
@quick
def test_pairs_are_all_that_overlap(links, golds):
    pairs = {(i, j) for i, a in enumerate(links) for j, b in enumerate(golds) if overlap(a, b)}
    link, mention = overlapping(links_of(links), gold_of(golds).mentions)
    assert len(link) == len(pairs)
    assert set(zip(link.tolist(), mention.tolist(), strict=True)) == pairs


@given(LINKS, GOLDS)
@quick
def test_links_are_right_weakly_or_strongly_or_ignored(links, golds):
    judged = [gold for gold in golds if gold[3] != IGNORED]
    comparison = compare(links_of(links), gold_of(golds))
    assert comparison.touches.tolist() == [any(overlap(a, b) for b in judged) for a in links]
    assert comparison.weak.tolist() == [any(weak(a, b) for b in golds) for a in links]
    assert comparison.strong.tolist() == [a in golds for a in links]
    assert comparison.ignored.tolist() == [is_ignored(a, golds) for a in links]
    assert comparison.weak_recalled.tolist() == [any(weak(a, b) for a in links) for b in golds]
    assert comparison.strong_recalled.tolist() == [b in links for b in golds]
    assert comparison.judged.tolist() == [gold[3] != IGNORED for gold in golds]


@given(LINKS, GOLDS, FLAGS)
@quick
def test_figures_are_those_of_their_definitions(links, golds, flags):
    """Links that do not count are such as touch no mention."""
    comparison = compare(links_of(links), gold_of(golds))
    counted = comparison.touches | np.array(flags[: len(links)], bool)
    kept = [a for a, c in zip(links, counted, strict=True) if c and not is_ignored(a, golds)]
    judged = [gold for gold in golds if gold[3] != IGNORED]
    values = figures(comparison, counted)
    for kind, right in (("weak", weak), ("strong", tuple.__eq__)):
        hits = sum(any(right(a, b) for b in golds) for a in kept)
        recalled = sum(any(right(a, b) for a in links) for b in judged)
        precision, recall = hits / max(len(kept), 1), recalled / max(len(judged), 1)
        f1 = 2 * precision * recall / (precision + recall) if recall else 0
        assert values[f"{kind}_precision"] == pytest.approx(precision)
        assert values[f"{kind}_recall"] == pytest.approx(recall)
        assert values[f"{kind}_f1"] == pytest.approx(f1)


def test_two_right_links_in_one_mention_recall_it_once():
    comparison = compare(links_of([(0, 0, 3, 1), (0, 4, 4, 1)]), gold_of([(0, 0, 8, 1)]))
    values = figures(comparison, np.ones(2, bool))
    assert (values["weak_precision"], values["weak_recall"], values["weak_f1"]) == (1, 1, 1)
    assert values["strong_f1"] == 0


def test_an_ignored_span_is_neither_right_nor_wrong_to_link():
    gold = gold_of([(0, 0, 4, 1), (0, 5, 3, IGNORED)])
    with_link = compare(links_of([(0, 0, 4, 1), (0, 5, 3, 2)]), gold)
    without = compare(links_of([(0, 0, 4, 1)]), gold)
    assert figures(with_link, np.ones(2, bool)) == figures(without, np.ones(1, bool))
    assert set(figures(without, np.ones(1, bool)).values()) == {1}


def test_a_mention_that_the_graph_lacks_counts_for_recall():
    comparison = compare(links_of([(0, 0, 4, 1)]), gold_of([(0, 0, 4, -1)]))
    assert figures(comparison, np.ones(1, bool))["weak_precision"] == 0
    assert comparison.judged.all()


def test_without_links_and_mentions_all_figures_are_0():
    values = figures(compare(links_of([]), gold_of([])), np.ones(0, bool))
    assert set(values.values()) == {0}
