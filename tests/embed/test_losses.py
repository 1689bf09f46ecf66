"""Each loss is its formula, and the softmax's own gradient is that of autograd."""

from math import exp, log, log1p

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn.functional import cross_entropy

from kgraft.embed.losses import (
    margin_loss,
    sampled_softmax_loss,
    self_adversarial_loss,
    softmax_loss_,
)

thorough = settings(max_examples=40, deadline=None)
values = st.floats(-20, 20, width=32)


@st.composite
def scores(draw):
    """Draw scores of answers (B,) and of their negatives (B, n)."""
    rows, negatives = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    shapes = (rows,), (rows, negatives)
    return [torch.from_numpy(draw(arrays(np.float64, s, elements=values))) for s in shapes]


def log_sigmoid(x):
    return -log1p(exp(-x)) if x > 0 else x - log1p(exp(x))


def near(found, expected):
    torch.testing.assert_close(float(found), float(expected), rtol=1e-6, atol=1e-6)


@thorough
@given(scores(), st.floats(0, 10))
def test_margin_loss(drawn, margin):
    positive, negative = drawn
    terms = [
        max(0.0, margin + (-p) - (-n))  # d = −score
        for p, row in zip(positive.tolist(), negative.tolist(), strict=True)
        for n in row
    ]
    near(margin_loss(positive, negative, margin=margin), sum(terms) / len(terms))


@thorough
@given(scores(), st.floats(0, 10), st.floats(0, 3))
def test_self_adversarial_loss(drawn, margin, temperature):
    positive, negative = drawn
    terms = []
    for p, row in zip(positive.tolist(), negative.tolist(), strict=True):
        top = max(row)
        believed = [exp(temperature * (n - top)) for n in row]
        wrong = sum(
            b / sum(believed) * log_sigmoid(-n - margin) for b, n in zip(believed, row, strict=True)
        )
        terms.append(-(log_sigmoid(margin + p) + wrong) / 2)
    found = self_adversarial_loss(positive, negative, margin=margin, temperature=temperature)
    near(found, sum(terms) / len(terms))


@thorough
@given(scores())
def test_no_gradient_flows_through_the_weights_of_negatives(drawn):
    positive, negative = drawn
    negative.requires_grad_()
    self_adversarial_loss(positive, negative, margin=2.0, temperature=0.7).backward()
    weights = torch.softmax(0.7 * negative.detach(), dim=1)
    # ∂/∂n of −p log σ(−n − γ) with p held fixed is p σ(n + γ).
    expected = weights * torch.sigmoid(negative.detach() + 2.0) / (2 * len(positive))
    torch.testing.assert_close(negative.grad, expected)


@thorough
@given(scores(), st.integers(2, 1000))
def test_sampled_softmax_loss(drawn, entities):
    positive, negative = drawn
    terms = []
    for p, row in zip(positive.tolist(), negative.tolist(), strict=True):
        wrong = sum(exp(n) for n in row) * (entities - 1) / len(row)
        terms.append(log(exp(p) + wrong) - p)
    near(sampled_softmax_loss(positive, negative, entities=entities), sum(terms) / len(terms))


def test_all_wrong_entities_as_negatives_give_the_whole_softmax():
    drawn = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))
    found = sampled_softmax_loss(drawn[:, 0], drawn[:, 1:], entities=7)
    torch.testing.assert_close(found, cross_entropy(drawn, torch.zeros(3, dtype=torch.int64)))


@st.composite
def answered(draw):
    """Draw scores (B, N) and some answers of each row, of some rows none."""
    rows, entities = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    table = draw(arrays(np.float64, (rows, entities), elements=values))
    right = draw(arrays(np.bool_, (rows, entities)).filter(np.any))
    return torch.from_numpy(table), *map(torch.from_numpy, np.nonzero(right))


@thorough
@given(answered())
def test_softmax_loss_and_its_gradient_are_those_of_autograd(drawn):
    table, rows, answers = drawn
    leaf = table.clone().requires_grad_()
    expected = cross_entropy(leaf[rows], answers)
    expected.backward()
    loss = softmax_loss_(table, rows, answers)
    torch.testing.assert_close(loss, expected.detach())
    torch.testing.assert_close(table, leaf.grad)


def test_softmax_loss_of_large_scores_is_finite():
    table = torch.tensor([[1e4, -1e4, 0.0], [-3e38, 0.0, 0.0]])
    loss = softmax_loss_(table, torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2]))
    near(loss, (0 + 2e4 + log(2)) / 3)
    torch.testing.assert_close(table, torch.tensor([[1.0, -1.0, 0.0], [0.0, 0.5, -0.5]]) / 3)


def test_no_gradient_is_kept():
    scores = torch.zeros(1, 2)
    assert not softmax_loss_(scores, torch.tensor([0]), torch.tensor([0])).requires_grad
