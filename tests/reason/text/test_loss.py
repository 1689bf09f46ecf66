"""The loss against loops, written from the paper."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize

from kgraft.graph import TripleArrays
from kgraft.measure import Queries, QueryBatch
from kgraft.reason.text.loss import contrastive_loss, known_answers


def naive(queries, entities, answer, known, scale, margin, weight, earlier, known_earlier):
    losses = []
    for q, vector in enumerate(queries):
        gold = math.exp((float(vector @ entities[answer[q]]) - margin) * scale)
        total = gold
        for e, entity in enumerate(entities):
            if e != answer[q] and not known[q][e]:
                total += math.exp(float(vector @ entity) * scale)
        for e, entity in enumerate(earlier):
            if not known_earlier[q][e]:
                total += math.exp(float(vector @ entity) * scale * weight)
        losses.append(-math.log(gold / total))
    return sum(losses) / len(losses)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(1, 5), st.integers(1, 6), st.integers(0, 4))
def test_the_loss_is_that_of_the_paper(seed, count, entities, earlier):
    drawn = torch.Generator().manual_seed(seed)
    vectors = [normalize(torch.randn(n, 8, generator=drawn)) for n in (count, entities, earlier)]
    answer = torch.randint(entities, (count,), generator=drawn)
    known = torch.rand(count, entities, generator=drawn) < 0.3
    known_earlier = torch.rand(count, earlier, generator=drawn) < 0.3
    loss = contrastive_loss(
        vectors[0],
        vectors[1],
        answer,
        known,
        scale=torch.tensor(4.0),
        margin=0.1,
        earlier_weight=0.5,
        earlier=(vectors[2], known_earlier) if earlier else None,
    )
    expected = naive(*vectors[:2], answer, known, 4.0, 0.1, 0.5, vectors[2], known_earlier)
    assert loss.item() == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_gradients_reach_the_temperature_and_not_known_answers():
    vectors = normalize(torch.randn(3, 4, generator=torch.Generator().manual_seed(0)))
    entities = vectors.clone().requires_grad_()
    scale = torch.tensor(2.0, requires_grad=True)
    known = torch.tensor([[False, True, False]])
    loss = contrastive_loss(
        vectors[:1], entities, torch.tensor([0]), known, scale=scale, margin=0.02
    )
    torch.autograd.backward(loss)
    assert scale.grad != 0
    assert entities.grad.abs().sum(1).bool().tolist() == [True, False, True]


def test_known_answers():
    rows = [(0, 0, 1), (0, 0, 2), (3, 0, 1), (2, 1, 0)]
    head, relation, tail = np.array(rows, np.int32).T
    queries = Queries.of(TripleArrays(head, relation, tail, np.zeros(4, np.int8)), 2)
    batch = QueryBatch(np.array([0, 1, 5]), np.array([0, 2, 0]))
    entities = np.array([2, 0, 2, 3])
    expected = [[True, False, True, False], [False, True, False, True], [False] * 4]
    assert known_answers(queries, batch, entities).tolist() == expected
