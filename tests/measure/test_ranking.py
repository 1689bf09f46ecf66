"""Ranks against a naive ranker that counts rivals one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput
from kgraft.measure.ranking import filtered_ranks, rank_figures

INF = float("inf")


def naive_ranks(scores, rows, answers, known):
    """1 + rivals that score more + half of those that score the same; `known` is a set a row."""
    ranks = []
    for row, answer in zip(rows, answers, strict=True):
        own = scores[row][answer]
        rivals = [s for other, s in enumerate(scores[row]) if other not in known[row]]
        ranks.append(1 + sum(s > own for s in rivals) + sum(s == own for s in rivals) / 2)
    return ranks


def ranks(scores, rows, answers, known):
    flat = [(row, answer) for row, some in enumerate(known) for answer in sorted(some)]
    known_rows, known_answers = np.array(flat, np.int64).reshape(-1, 2).T
    asked = np.array(rows, np.int64), np.array(answers, np.int64)
    return filtered_ranks(np.array(scores, np.float32), *asked, known_rows, known_answers)


@st.composite
def cases(draw, values):
    """Scores, the answers asked (in any order of rows), and known answers with those among them."""
    queries, width = draw(st.integers(1, 6)), draw(st.integers(1, 20))
    scores = draw(st.lists(st.lists(values, min_size=width, max_size=width), min_size=queries,
                           max_size=queries))  # fmt: skip
    pairs = st.tuples(st.integers(0, queries - 1), st.integers(0, width - 1))
    asked = draw(st.lists(pairs, max_size=40))
    others = draw(st.lists(pairs, max_size=10))
    known = [{a for r, a in [*asked, *others] if r == row} for row in range(queries)]
    return scores, [row for row, _ in asked], [answer for _, answer in asked], known


ties = st.sampled_from([-1.0, 0.0, 0.5, 1.0])
floats = st.floats(-100, 100, width=32)


@pytest.mark.slow
@settings(max_examples=at_most(150), deadline=None)
@given(cases(ties | floats))
def test_ranks_are_those_of_a_naive_ranker(case):
    assert ranks(*case).tolist() == naive_ranks(*case)


@settings(max_examples=at_most(80), deadline=None)
@given(cases(st.sampled_from([-INF, -1.0, 0.0, 1.0, INF])))
def test_infinite_scores_are_scores_like_others(case):
    assert ranks(*case).tolist() == naive_ranks(*case)


@pytest.mark.parametrize("base", [8, 16, 2040, 4080])
@pytest.mark.parametrize("more", [-7, -1, 0, 1, 7])
def test_every_width_is_counted_whole(base, more):
    width = base + more
    low_first = np.arange(width, dtype=np.float32)
    known = [{0}, {width - 1}, {0}]
    scores = [low_first, low_first, np.zeros(width)]
    found = ranks(scores, [0, 1, 2], [0, width - 1, 0], known)
    assert found.tolist() == [width, 1, 1 + (width - 1) / 2]


@settings(max_examples=at_most(20), deadline=None)
@given(st.integers(2030, 2050) | st.integers(4070, 4090), st.integers(0, 1000))
def test_wide_rows_are_ranked_as_a_naive_ranker_does(width, seed):
    random = np.random.default_rng(seed)
    scores = random.integers(0, 50, (3, width)).astype(np.float32)
    rows, answers = random.integers(0, 3, 25), random.integers(0, width, 25)
    known = [set(answers[rows == row].tolist()) | {0, width - 1} for row in range(3)]
    expected = naive_ranks(scores.tolist(), rows.tolist(), answers.tolist(), known)
    assert ranks(scores, rows, answers, known).tolist() == expected


def test_one_row_may_have_more_answers_than_are_looked_at_together():
    scores = [[float(i) for i in range(100)], [0.0] * 100]
    answers = list(range(40, 0, -1))
    known = [set(answers), set()]
    assert ranks(scores, [0] * 40, answers, known).tolist() == [60.0] * 40


def test_where_all_others_are_known_every_answer_is_first():
    answers = list(range(10))
    assert ranks([[0.0] * 10], [0] * 10, answers, [set(answers)]).tolist() == [1.0] * 10
    one = ranks([[5.0] * 9 + [-5.0]], [0], [9], [set(answers)])
    assert one.tolist() == [1.0]


def test_random_order_of_equal_scores_gives_the_rank_on_average():
    random = np.random.default_rng(0)
    places = [int(np.flatnonzero(random.permutation(7) == 0)[0]) + 1 for _ in range(20_000)]
    assert ranks([[3.0] * 7], [0], [0], [{0}])[0] == pytest.approx(np.mean(places), abs=0.05)


def test_an_answer_that_is_no_number_is_refused():
    with pytest.raises(BadInput, match="NaN"):
        ranks([[0.0, np.nan]], [0], [1], [{1}])


def test_nothing_asked_gives_no_ranks():
    assert ranks([[0.0, 1.0]], [], [], [set()]).shape == (0,)
    assert rank_figures(np.zeros(0)) == {}


@given(st.lists(st.integers(2, 60).map(lambda double: double / 2), min_size=1, max_size=30))
def test_figures_are_those_of_a_naive_loop(some):
    figures = rank_figures(np.array(some))
    assert list(figures) == ["mrr", "hits1", "hits3", "hits10", "mean_rank", "count"]
    assert figures["count"] == len(some)
    assert figures["mrr"] == pytest.approx(sum(1 / rank for rank in some) / len(some))
    assert figures["mean_rank"] == pytest.approx(sum(some) / len(some))
    for k in (1, 3, 10):
        assert figures[f"hits{k}"] == pytest.approx(sum(r <= k for r in some) / len(some))
