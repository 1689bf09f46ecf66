"""A learner moves each part of a module at its own rate, and its state goes back to the bit."""

import torch
from torch import nn

from kgraft.training.adam import warmed_up
from kgraft.training.learner import Learner


def made():
    torch.manual_seed(0)
    module = nn.Linear(3, 1)
    learner = Learner(module, [(0.1, [module.weight]), (0.0, [module.bias])], weight_decay=0.0)
    learner.steps = 10
    return learner


def loss_of(learner):
    return learner.module(torch.tensor([[1.0, 2.0, 3.0]])).square().sum()


def test_each_part_moves_at_its_rate():
    learner = made()
    weight, bias = learner.module.weight.clone(), learner.module.bias.clone()
    loss = loss_of(learner)
    assert learner.move(loss, 0) == {"loss": loss.item()}
    moved = (learner.module.weight - weight).abs()
    torch.testing.assert_close(moved, torch.full_like(moved, 0.1 * warmed_up(0, 10)))
    assert torch.equal(learner.module.bias, bias)


def test_a_state_that_is_put_back_goes_on_to_the_bit():
    learner, other = made(), made()
    learner.move(loss_of(learner), 0)
    other.load({name: tensor.clone() for name, tensor in learner.state().items()})
    for one in (learner, other):
        one.move(loss_of(one), 1)
    assert torch.equal(learner.module.weight, other.module.weight)
