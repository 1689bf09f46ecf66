"""An AdamW task updates each group at its rate, and its state goes back to the bit."""

import pytest
import torch
from torch import nn

from kgraft.training import AdamWTask, without_prefix
from kgraft.training.task import lr_scale


class Linear(AdamWTask):
    """A linear layer whose weight and bias learn at rates of their own."""

    steps = 10

    def __init__(self, bias_rate=0.0, weight_decay=0.0):
        torch.manual_seed(0)
        layer = nn.Linear(3, 1)
        groups = [(0.1, [layer.weight]), (bias_rate, [layer.bias])]
        super().__init__(layer, groups, weight_decay=weight_decay)

    def batches(self, epoch):
        return [torch.tensor([[1.0, 2.0, 3.0]])]

    def step(self, batch, step):
        return self.update(self.module(batch * (step + 1)).square().sum(), step)


def make_steps(task, first, last):
    for step in range(first, last):
        task.step(task.batches(0)[0], step)


def test_each_group_moves_at_its_rate():
    task = Linear()
    weight, bias = task.module.weight.clone(), task.module.bias.clone()
    loss = task.module(task.batches(0)[0]).square().sum().item()
    assert task.step(task.batches(0)[0], 0) == {"loss": loss}
    moved = (task.module.weight - weight).abs()
    torch.testing.assert_close(moved, torch.full_like(moved, 0.1 * lr_scale(0, 10)))
    assert torch.equal(task.module.bias, bias)


def test_steps_are_those_of_torchs_adamw():
    task, other = Linear(bias_rate=0.01, weight_decay=0.01), Linear()
    parameters = [
        {"params": [other.module.weight], "lr": 0.1},
        {"params": [other.module.bias], "lr": 0.01},
    ]
    optimiser = torch.optim.AdamW(parameters, weight_decay=0.01)
    for step in range(3):
        optimiser.zero_grad()
        other.module(task.batches(0)[0] * (step + 1)).square().sum().backward()
        nn.utils.clip_grad_norm_(other.module.parameters(), 1.0)
        for group, rate in zip(optimiser.param_groups, (0.1, 0.01), strict=True):
            group["lr"] = rate * lr_scale(step, 10)
        optimiser.step()
    make_steps(task, 0, 3)
    torch.testing.assert_close(task.module.weight, other.module.weight)
    torch.testing.assert_close(task.module.bias, other.module.bias)


def test_gradients_are_clipped_and_parameters_out_of_reach_stay():
    task = Linear()
    before = task.module.bias.clone()
    task.update((task.module.weight * 100).sum(), 0)
    assert task.module.weight.grad.norm() <= 1.0 + 1e-6
    assert torch.equal(task.module.bias, before)
    weight = task.module.weight.clone()
    task.update(torch.zeros(()), 1)
    assert torch.equal(task.module.weight, weight)


@pytest.mark.parametrize("stop", [0, 1, 3])
def test_a_state_that_is_put_back_continues_to_the_bit(stop):
    whole, first, second = Linear(), Linear(), Linear()
    make_steps(whole, 0, 5)
    make_steps(first, 0, stop)
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    make_steps(second, stop, 5)
    assert torch.equal(second.module.weight, whole.module.weight)
    assert second.state().keys() == whole.state().keys()


def test_without_prefix():
    one, two = torch.zeros(1), torch.ones(1)
    assert without_prefix("a.", {"a.x": one, "ab.x": two, "b.a.x": two}) == {"x": one}


def test_the_rate_rises_over_a_tenth_and_falls_to_nearly_nothing():
    rates = [lr_scale(step, 100) for step in range(100)]
    assert rates[:3] == pytest.approx([0.1, 0.2 * 0.99, 0.3 * 0.98])
    assert max(rates) == rates[9] == pytest.approx(0.91)
    assert rates[50] == pytest.approx(0.5)
    assert rates[-1] == pytest.approx(0.02)
