"""Losses are those of their formulas, and training cannot make them no number."""

import math

import pytest
import torch
from torch.nn.functional import normalize

from kgraft.link.losses import entity_loss, mention_loss, verdict_loss


@pytest.fixture
def draw():
    return torch.Generator().manual_seed(4)


def naive_binary(logit, target):
    p = 1 / (1 + math.exp(-logit))
    return -math.log(p if target else 1 - p)


def test_the_mention_loss_is_the_cross_entropy_of_all_spans_a_text(draw):
    logits = torch.randn(2, 3, 4, generator=draw)
    targets = (torch.rand(2, 3, 4, generator=draw) > 0.5).float()
    weights = torch.rand(2, 3, 4, generator=draw)
    weights[0, 0], logits[0, 0] = 0.0, -math.inf  # spans that do not fit
    terms = [
        weight * naive_binary(logit, target)
        for logit, target, weight in zip(
            *(t.flatten().tolist() for t in (logits, targets, weights)), strict=True
        )
        if weight
    ]
    assert mention_loss(logits, targets, weights).item() == pytest.approx(sum(terms) / 2)


def test_spans_that_do_not_fit_have_no_gradient(draw):
    logits = torch.randn(1, 2, 2, generator=draw)
    logits[0, 1, 1] = -math.inf
    logits.requires_grad_()
    weights = torch.ones(1, 2, 2)
    weights[0, 1, 1] = 0
    mention_loss(logits, torch.zeros(1, 2, 2), weights).backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[0, 1, 1] == 0


def test_the_entity_loss_takes_the_other_entities_of_the_batch_as_negatives(draw):
    logits = torch.randn(3, 4, generator=draw)
    logits[1, 2:] = -math.inf
    gold, entity = torch.tensor([3, 0, 1]), torch.tensor([7, 8, 7])
    mentions = torch.randn(3, 5, generator=draw)
    vectors = normalize(torch.randn(3, 5, generator=draw), dim=1)
    total = 0
    for s in range(3):
        others = [float(mentions[s] @ vectors[t]) for t in range(3) if entity[t] != entity[s]]
        weights = [math.exp(x) for x in [*logits[s].tolist(), *others]]
        total -= math.log(weights[gold[s]] / sum(weights))
    assert entity_loss(logits, gold, mentions, vectors, entity).item() == pytest.approx(total / 3)


def test_the_verdict_loss_is_a_weighted_sum_a_text(draw):
    logits, weights = torch.randn(6, generator=draw), torch.rand(6, generator=draw)
    right = torch.tensor([1.0, 0, 0, 1, 1, 0])
    rows = zip(logits.tolist(), right.tolist(), weights.tolist(), strict=True)
    expected = sum(weight * naive_binary(logit, target) for logit, target, weight in rows) / 4
    assert verdict_loss(logits, right, weights, 4).item() == pytest.approx(expected)
