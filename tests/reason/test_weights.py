"""Weights of sources: features and loss against slow versions; useless sources get none."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reason.tiny import FixedSource

from kgraft.measure import Queries
from kgraft.reason import SourceWeights, weights
from kgraft.reason.weights import Examples, _log_loss, collect_examples, features, fit_weights

few = settings(max_examples=10, deadline=None)
values = st.sampled_from([-2.0, 0.0, 0.5, 3.0]) | st.floats(-20, 20, width=32)
tables = st.integers(1, 8).flatmap(
    lambda width: st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=4)
)


@few
@given(tables)
def test_features_are_log_probability_and_mean_rank(table):
    log_p, log_rank = features(np.array(table, np.float32))
    for row, own in enumerate(table):
        total = np.log(np.exp(np.array(own)).sum())
        for column, score in enumerate(own):
            above, equal = sum(s > score for s in own), sum(s == score for s in own)
            rank = 1 + above + (equal - 1) / 2
            assert log_p[row, column] == pytest.approx(score - total, abs=1e-4)
            assert log_rank[row, column] == pytest.approx(-np.log(rank), abs=1e-6)


@st.composite
def answers(draw):
    """Draw answers of queries with their scores, and which are right."""
    queries = draw(st.integers(1, 5))
    rows = [
        (query, draw(st.floats(-30, 30)), draw(st.booleans()))
        for query in range(queries)
        for _ in range(draw(st.integers(1, 4)))
    ]
    return queries, [*rows, (0, 1.0, True)]


@few
@given(answers())
def test_the_loss_is_that_of_right_answers_together(case):
    queries, rows = case
    query, score, right = (torch.tensor(column) for column in zip(*rows, strict=True))
    losses = []
    for index in range(queries):
        own = [(s, good) for q, s, good in rows if q == index]
        total, good = (sum(np.exp(s) for s, g in own if g or not only) for only in (False, True))
        if any(g for _, g in own):
            losses.append(-np.log(max(good / total, 1e-9)))
    loss = _log_loss(score.float(), query, right, queries)
    assert float(loss) == pytest.approx(np.mean(losses), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("best", [1, 2, 100])
def test_the_best_of_all_sources_compete(monkeypatch, best):
    monkeypatch.setattr(weights, "BEST", best)
    random = np.random.default_rng(0)
    facts = random.integers([9, 2, 9], size=(24, 3))
    known = Queries.group(*facts.T, 1)
    valid = Queries.group(*facts[:8].T, 1)
    sources = [random.normal(size=(9, 2, 9)).astype(np.float32) for _ in range(2)]
    fixed = [FixedSource(str(n), s) for n, s in enumerate(sources)]
    indices = np.arange(len(valid))[1:]
    made = collect_examples(fixed, valid, known, indices, 3)
    np.testing.assert_array_equal(made.relation, valid.relation[indices])
    rows = []
    for query, index in enumerate(indices):
        right = set(valid.answers(np.array([index]))[1].tolist())
        others = set(known.known(valid.batch(np.array([index])))[1].tolist()) - right
        own = [s[valid.entity[index], valid.relation[index]] for s in sources]
        competing = set(right)
        for column in own:
            open_answers = [v for v in range(9) if v not in others]
            competing |= set(sorted(open_answers, key=lambda v, c=column: -c[v])[:best])
        stated = np.concatenate([features(column[None]) for column in own])[:, 0]
        rows += [(query, v in right, *stated[:, v].tolist()) for v in sorted(competing)]
    assert made.query.tolist() == [row[0] for row in rows]
    assert made.is_right.tolist() == [row[1] for row in rows]
    np.testing.assert_allclose(made.features, [row[2:] for row in rows], rtol=1e-6)


def learnt(graph, *sources):
    relations = graph.manifest.relations
    valid, known = (
        Queries.of(part.triples, relations) for part in (graph.split("valid"), graph.whole())
    )
    examples = collect_examples(sources, valid, known, np.arange(len(valid)), 8)
    return fit_weights([source.name for source in sources], examples)


def test_a_useless_source_gets_no_weight(atlas):
    noise, right = FixedSource.random("noise", atlas, 1), FixedSource.right("right", atlas)
    fitted = learnt(atlas, noise, right)
    assert fitted.sources == ("noise", "right")
    assert (fitted.common >= 0).all()
    assert fitted.common[:2].sum() < 0.1 * fitted.common[2:].sum()
    for own in fitted.relations.values():
        assert own[:2].sum() < 0.2 * own[2:].sum()


def test_a_relation_has_weights_of_its_own(atlas, monkeypatch):
    monkeypatch.setattr(weights, "FREE", 1)
    borders, lies_in = (atlas.relation(name).index for name in ("borders", "lies_in"))
    one = FixedSource.right("one", atlas, 1, relations=[borders])
    two = FixedSource.right("two", atlas, 2, relations=[lies_in])
    fitted = learnt(atlas, one, two)
    first, second = fitted.of(np.array([borders, lies_in]))
    assert first[:2].sum() > 2 * first[2:].sum()
    assert second[2:].sum() > 2 * second[:2].sum()
    assert set(fitted.relations) <= set(range(2 * atlas.manifest.relations))


def test_examples_without_their_own_relation_use_the_common_weights():
    fitted = SourceWeights(("a",), np.array([1.0, 2.0]), {3: np.array([4.0, 5.0])})
    assert fitted.of(np.array([0, 3, 1])).tolist() == [[1, 2], [4, 5], [1, 2]]
    assert fitted.of(np.zeros(0, np.int64)).shape == (0, 2)


def test_weights_are_stored_as_they_are():
    random = np.random.default_rng(0)
    own = {0: random.random(4), 7: random.random(4)}
    fitted = SourceWeights(("a", "b"), random.random(4), own)
    again = SourceWeights.from_dict(fitted.to_dict())
    assert again.sources == fitted.sources
    np.testing.assert_array_equal(again.common, fitted.common)
    np.testing.assert_array_equal(again.of(np.array([0, 7, 2])), fitted.of(np.array([0, 7, 2])))


def test_even_weights_are_a_mean():
    even = SourceWeights.even(["a", "b"])
    assert even.of(np.array([5])).tolist() == [[0.5, 0, 0.5, 0]]


def test_one_perfect_query_is_enough_to_fit():
    examples = Examples(
        np.array([0]),
        np.array([0, 0]),
        np.array([[-0.1, 0.0], [-2.0, -0.7]], np.float32),
        np.array([True, False]),
    )
    fitted = fit_weights(["a"], examples)
    assert np.isfinite(fitted.common).all()
    assert fitted.common.sum() > 0
