"""Choosing links is greedy, leaves none that overlap, and keeps unique names whole."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick
from tests.link.test_nested import mention_rows, naive_inside
from tests.link.tiny import mentions_of

from kgraft.graph import Match
from kgraft.link.decode import choose_links, choose_spans

SCORES = [0.0, 0.25, 0.5, 0.5, 0.9]
SPAN = st.tuples(st.integers(0, 12), st.integers(1, 5), st.sampled_from(SCORES), st.booleans())


def naive_spans(score, start, end, usable):
    """Compare every span with all that were taken before it."""
    order = sorted(
        range(len(score)), key=lambda row: (-score[row], start[row] - end[row], start[row])
    )
    taken = []
    for row in order:
        clear = all(end[row] <= start[other] or end[other] <= start[row] for other in taken)
        if usable[row] and clear:
            taken.append(row)
    return sorted(taken)


@given(st.lists(SPAN, max_size=25))
@quick
def test_choosing_spans_is_greedy(spans):
    start, size, score, usable = (np.array(c) for c in zip(*spans, strict=True)) if spans else (
        np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, bool))  # fmt: skip
    chosen = choose_spans(score, start, start + size, usable)
    assert chosen.tolist() == naive_spans(score, start, start + size, usable)


def test_of_equal_scores_the_longer_then_the_left_comes_first():
    start, end = np.array([0, 0, 4, 6, 8]), np.array([3, 5, 7, 9, 11])
    assert choose_spans(np.full(5, 0.7), start, end, np.ones(5, bool)).tolist() == [1, 3]


def test_spans_that_touch_do_not_overlap():
    start, end = np.array([0, 3]), np.array([3, 6])
    assert choose_spans(np.array([0.6, 0.7]), start, end, np.ones(2, bool)).tolist() == [0, 1]


@given(mention_rows(), st.sampled_from([0.0, 0.25, 0.5, 0.95]))
@quick
def test_links_are_chosen_text_by_text(rows, threshold):
    inside = naive_inside(rows)
    score = [row[3][0][2] if row[3] else 0.0 for row in rows]
    usable = [
        bool(row[3]) and not is_inside and best >= threshold
        for row, is_inside, best in zip(rows, inside, score, strict=True)
    ]
    columns = (score, [row[1] for row in rows], [row[2] for row in rows], usable)
    expected = []
    for text in {row[0] for row in rows}:
        here = [i for i, row in enumerate(rows) if row[0] == text]
        of_text = ([column[i] for i in here] for column in columns)
        expected += [here[row] for row in naive_spans(*of_text)]
    assert choose_links(mentions_of(rows), threshold).tolist() == sorted(expected)


def test_a_unique_name_rules_out_a_better_one_inside_it():
    rows = [
        (0, 0, 15, [(1, Match.NAME, 0.6)]),
        (0, 8, 15, [(2, Match.NAME, 0.9), (3, Match.NAME, 0.05)]),
    ]  # "Project Mercury", "Mercury"
    assert choose_links(mentions_of(rows), 0.5).tolist() == [0]


def test_an_ambiguous_or_inexact_name_rules_nothing_out():
    inner = (0, 8, 15, [(2, Match.NAME, 0.9)])
    for candidates in ([(1, Match.NAME, 0.6), (4, Match.NAME, 0.1)], [(1, Match.VARIANT, 0.6)]):
        assert choose_links(mentions_of([(0, 0, 15, candidates), inner]), 0.5).tolist() == [1]


def test_without_mentions_there_are_no_links():
    assert choose_links(mentions_of([]), 0.0).tolist() == []
