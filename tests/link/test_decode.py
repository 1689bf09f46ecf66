"""Judging follows the formulas; choosing is greedy, and leaves no two links that overlap."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import some
from torch.nn.functional import normalize

from kgraft.link.candidates import Candidates
from kgraft.link.decode import Judged, choose, judge
from kgraft.link.model import FEATURES
from kgraft.link.reading import Spans
from kgraft.text import Places

SPANS, WIDTH = 5, 4
SCORES = [0.0, 0.2, 0.5, 0.5, 0.9]
SPAN = st.tuples(st.integers(0, 12), st.integers(1, 5), st.sampled_from(SCORES))


@pytest.fixture(scope="module")
def given_spans(model):
    """Spans with random vectors; the last has no candidates, the one before it a single one."""
    draw = torch.Generator().manual_seed(2)
    dimension = model.encoder.dimension
    entity = np.arange(SPANS * WIDTH).reshape(SPANS, WIDTH)
    entity[-2, [0, 1, 3]], entity[-1], entity[0, 2] = -1, -1, -1
    padded = torch.from_numpy(entity < 0)
    prior = torch.rand(SPANS, WIDTH, generator=draw).masked_fill(padded, 0.0).numpy()
    features = torch.randn(SPANS, WIDTH, len(FEATURES), generator=draw)
    vectors = normalize(torch.randn(SPANS, WIDTH, dimension, generator=draw), dim=-1)
    vectors = vectors.masked_fill(padded[:, :, None], 0.0)
    mentions = torch.randn(SPANS, dimension, generator=draw)
    nowhere = Places(*np.zeros((3, SPANS), np.int64))
    spans = Spans(nowhere, torch.randn(SPANS, generator=draw) * 3, mentions)
    return spans, Candidates(entity, prior, features), vectors


def naive_judge(model, span_logit, y, entities, x, features):
    """Return (entity, score, cosine) of one span's candidates, best first, from the formulas."""
    a = [float(e @ y + model.weigh.weight[0] @ f) for e, f in zip(x, features, strict=True)]
    p = [math.exp(one - max(a)) for one in a]
    p = [one / sum(p) for one in p]
    best = a.index(max(a))
    dot = float(x[best] @ y)
    cosine = [float(e @ y) / float(y.norm()) for e in x]
    entropy = -sum(one * math.log(one) for one in p)
    scores = [span_logit / 5, dot / 10, cosine[best] * 3, math.log(p[best]) / 3, entropy]
    m, e = y / y.norm(), x[best]
    joint = torch.cat([m, e, m - e, 8 * m * e, torch.tensor(scores), features[best]])
    hidden = model.judge.weight @ joint + model.judge.bias
    hidden = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5))
    verdict = 1 / (1 + math.exp(-float(model.verdict.weight[0] @ hidden + model.verdict.bias)))
    rows = [
        (n, verdict * share / p[best], c) for n, share, c in zip(entities, p, cosine, strict=True)
    ]
    return [rows[place] for place in sorted(range(len(a)), key=lambda place: -a[place])]


def test_scores_are_those_of_the_formulas(model, given_spans):
    spans, candidates, vectors = given_spans
    judged = judge(model, spans, candidates, vectors)
    for row in range(SPANS - 1):
        there = np.flatnonzero(candidates.entity[row] >= 0)
        expected = naive_judge(
            model,
            float(spans.logits[row]),
            spans.vectors[row],
            candidates.entity[row, there].tolist(),
            vectors[row, there],
            candidates.features[row, there],
        )
        columns = (judged.entity[row], judged.score[row], judged.fit[row])
        found = np.stack(columns, axis=1)[: len(there)]
        np.testing.assert_allclose(found, expected, atol=2e-4)
        assert (judged.entity[row, len(there) :] == -1).all()
        assert not judged.score[row, len(there) :].any()


def test_a_span_without_candidates_scores_nothing(model, given_spans):
    judged = judge(model, *given_spans)
    assert (judged.entity[-1] == -1).all()
    assert not judged.score[-1].any()
    assert judged.best[-1] == -1


def test_priors_go_with_their_entities(model, given_spans):
    _, candidates, _ = given_spans
    judged = judge(model, *given_spans)
    for row in range(SPANS):
        before = dict(zip(candidates.entity[row].tolist(), candidates.prior[row], strict=True))
        after = dict(zip(judged.entity[row].tolist(), judged.prior[row], strict=True))
        assert before == after


def test_more_padding_changes_nothing(model, given_spans):
    spans, candidates, vectors = given_spans
    more = Candidates(
        np.pad(candidates.entity, ((0, 0), (0, 3)), constant_values=-1),
        np.pad(candidates.prior, ((0, 0), (0, 3))),
        torch.nn.functional.pad(candidates.features, (0, 0, 0, 3)),
    )
    judged = judge(model, spans, candidates, vectors)
    wider = judge(model, spans, more, torch.nn.functional.pad(vectors, (0, 0, 0, 3)))
    assert wider.entity[:, :WIDTH].tolist() == judged.entity.tolist()
    np.testing.assert_allclose(wider.score[:, :WIDTH], judged.score, atol=1e-4)


def test_some_of_what_was_judged():
    judged = Judged(*(np.arange(6).reshape(3, 2) + n for n in range(4)))
    taken = judged.take(np.array([2, 0]))
    assert taken.entity.tolist() == [[4, 5], [0, 1]]
    assert taken.best.tolist() == [5, 1]


def naive_choose(score, start, end, threshold):
    """Compare every span with all that were taken before it."""
    order = sorted(range(len(score)), key=lambda s: (-score[s], start[s] - end[s], start[s]))
    taken = []
    for span in order:
        clear = all(end[span] <= start[t] or end[t] <= start[span] for t in taken)
        if score[span] >= threshold and clear:
            taken.append(span)
    return sorted(taken)


@given(spans=st.lists(SPAN, max_size=25), threshold=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
@some
def test_choosing_is_greedy(spans, threshold):
    spans = sorted((start, start + size, score) for start, size, score in spans)
    start, end, score = np.array(spans, float).reshape(-1, 3).T
    start, end = start.astype(np.int64), end.astype(np.int64)
    chosen = choose(score, start, end, threshold).tolist()
    assert chosen == naive_choose(score, start, end, threshold)


def test_of_equal_scores_the_longer_then_the_left_comes_first():
    start, end = np.array([0, 0, 4, 6, 8]), np.array([3, 5, 7, 9, 11])
    assert choose(np.full(5, 0.7), start, end, 0.5).tolist() == [1, 3]


def test_spans_that_touch_do_not_overlap():
    assert choose(np.array([0.6, 0.7]), np.array([0, 3]), np.array([3, 6]), 0.5).tolist() == [0, 1]
