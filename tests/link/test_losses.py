"""Losses of mentions and entities are those of their formulas, and always numbers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick

from kgraft.link.losses import SHORT_TEXT, entity_loss, mention_loss

SEED = st.integers(0, 999)


def naive_binary(logit, target):
    return math.log1p(math.exp(-logit)) if target else math.log1p(math.exp(logit))


@given(st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4)), SEED)
@quick
def test_the_mention_loss_is_the_cross_entropy_of_all_spans_per_20_tokens(shape, seed):
    draw = torch.Generator().manual_seed(seed)
    logits = torch.randn(shape, generator=draw) * 3
    targets = (torch.rand(shape, generator=draw) > 0.5).float()
    weights = torch.rand(shape, generator=draw)
    missing = torch.rand(shape, generator=draw) < 0.3  # spans that do not fit
    logits, weights = logits.masked_fill(missing, -math.inf), weights.masked_fill(missing, 0)
    columns = (tensor.flatten().tolist() for tensor in (logits, targets, weights))
    total = sum(
        weight * naive_binary(logit, target)
        for logit, target, weight in zip(*columns, strict=True)
        if weight
    )
    expected = total * SHORT_TEXT / (shape[0] * shape[1])
    assert mention_loss(logits, targets, weights).item() == pytest.approx(expected, rel=1e-4)


def test_spans_that_do_not_fit_have_no_gradient():
    logits = torch.tensor([[[0.3, -1.0], [0.2, -math.inf]]], requires_grad=True)
    weights = torch.tensor([[[1.0, 1.0], [1.0, 0.0]]])
    mention_loss(logits, torch.zeros(1, 2, 2), weights).backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[0, 1, 1] == 0


@st.composite
def batches(draw):
    """Candidates of some mentions, of which some have a right one."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    owner = [row for row, size in enumerate(sizes) for _ in range(size)]
    entity = draw(st.lists(st.integers(0, 5), min_size=len(owner), max_size=len(owner)))
    marked = draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1, unique=True))
    first = [sum(sizes[:row]) for row in range(len(sizes))]
    gold = [first[row] + draw(st.integers(0, sizes[row] - 1)) for row in marked]
    return owner, entity, marked, gold, draw(SEED)


def naive_entity_loss(dots, owner, gold, mentions, entities, ids):
    total = 0.0
    for row, right in enumerate(gold):
        own = [dots[c] for c in range(len(dots)) if owner[c] == owner[right]]
        others = [
            float(mentions[row] @ entities[other])
            for other in range(len(gold))
            if ids[other] != ids[row]
        ]
        total += math.log(sum(map(math.exp, [*own, *others]))) - dots[right]
    return total / len(gold)


@given(batches())
@quick
def test_the_entity_loss_takes_other_right_entities_of_the_batch_as_negatives(batch):
    owner, entity, marked, gold, seed = batch
    draw = torch.Generator().manual_seed(seed)
    table = torch.randn(6, 5, generator=draw)  # vectors of entities
    spans = torch.randn(max(owner) + 1, 5, generator=draw)
    dots = (table[entity] * spans[owner]).sum(1)
    mentions, ids = spans[marked], torch.tensor(entity)[gold]
    given_columns = dots, torch.tensor(owner), torch.tensor(gold), mentions, table[ids], ids
    expected = naive_entity_loss(dots.tolist(), owner, gold, mentions, table[ids], ids.tolist())
    assert entity_loss(*given_columns).item() == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_the_entity_loss_has_finite_gradients_where_all_entities_are_the_same():
    dots = torch.tensor([80.0, -80.0, 3.0], requires_grad=True)
    mentions = torch.ones(2, 3, requires_grad=True)
    owner, gold, ids = torch.tensor([0, 0, 1]), torch.tensor([1, 2]), torch.tensor([7, 7])
    loss = entity_loss(dots, owner, gold, mentions, torch.ones(2, 3), ids)
    loss.backward()
    assert loss.item() == pytest.approx(80)
    assert dots.grad.isfinite().all()
    assert mentions.grad.isfinite().all()
