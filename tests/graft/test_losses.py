"""The linker's losses, computed by hand."""

import math

import torch

from kgraft.graft.losses import likelihood_loss, margin_loss
from kgraft.text.mention_batch import NIL, UNKNOWN

SCORES = torch.tensor([[[0.5, -0.3, 0.1], [2.0, -math.inf, -math.inf]]])


def test_likelihood():
    gold = torch.tensor([[1, 0]])
    first = -math.log(math.exp(-0.3) / (math.exp(0.5) + math.exp(-0.3) + math.exp(0.1)))
    assert math.isclose(likelihood_loss(SCORES, gold).item(), (first + 0) / 2, rel_tol=1e-6)


def test_margin():
    # the first: 0.2 + 0.3 for the gold one, 0.7 and 0.3 for the others; the second: nothing
    assert math.isclose(margin_loss(SCORES, torch.tensor([[1, 0]])).item(), 1.5 / 2, rel_tol=1e-6)
    # no candidate is right: 0.7 + 0 + 0.3
    nil = torch.tensor([[NIL, UNKNOWN]])
    assert math.isclose(margin_loss(SCORES, nil).item(), 1.0, rel_tol=1e-6)


def test_what_is_not_known_teaches_nothing():
    gold = torch.full((1, 2), UNKNOWN)
    assert likelihood_loss(SCORES, gold).item() == 0
    assert margin_loss(SCORES, gold).item() == 0
    assert likelihood_loss(SCORES, torch.full((1, 2), NIL)).item() == 0


def test_padding_has_no_gradient_that_is_not_finite():
    scores = SCORES.clone().requires_grad_()
    (
        likelihood_loss(scores, torch.tensor([[1, 0]]))
        + margin_loss(scores, torch.tensor([[1, 0]]))
    ).backward()
    assert torch.isfinite(scores.grad).all()
