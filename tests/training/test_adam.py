"""The optimiser's state is whole from the start, and can be put back to the bit."""

import pytest
import torch
from torch import nn

from kgraft.training.adam import Adam, under, warmed_up


def made():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    groups = [{"params": [model.weight], "lr": 0.1}, {"params": [model.bias]}]
    return model, Adam(groups, 0.01)


def step(model, optimiser, seed):
    given = torch.randn(4, 3, generator=torch.Generator().manual_seed(seed))
    optimiser.zero_grad()
    model(given).square().sum().backward()
    optimiser.step()


def test_it_steps_as_torchs_own():
    (model, ours), (other, _) = made(), made()
    theirs = torch.optim.AdamW(
        [{"params": [other.weight], "lr": 0.1}, {"params": [other.bias]}], 0.01, weight_decay=0.01
    )
    for seed in range(3):
        step(model, ours, seed)
        step(other, theirs, seed)
    torch.testing.assert_close(model.weight, other.weight)
    torch.testing.assert_close(model.bias, other.bias)


def test_a_state_put_back_goes_on_to_the_bit():
    model, optimiser = made()
    names = set(optimiser.flat_state())
    step(model, optimiser, 0)
    held = {n: t.clone() for n, t in optimiser.flat_state().items()}
    assert set(held) == names
    again, other = made()
    again.load_state_dict({n: t.clone() for n, t in model.state_dict().items()})
    other.load_flat(held)
    step(model, optimiser, 1)
    step(again, other, 1)
    assert torch.equal(model.weight, again.weight)


def test_under():
    one, two = torch.zeros(1), torch.ones(1)
    assert under("a.", {"a.x": one, "ab.x": two, "b.a.x": two}) == {"x": one}


def test_the_rate_rises_over_a_tenth_and_falls_to_nearly_nothing():
    rates = [warmed_up(place, 100) for place in range(100)]
    assert rates[:3] == pytest.approx([0.1, 0.2 * 0.99, 0.3 * 0.98])
    assert max(rates) == rates[9] == pytest.approx(0.91)
    assert rates[50] == pytest.approx(0.5)
    assert rates[-1] == pytest.approx(0.02)


def test_an_update_moves_each_group_at_its_rate_and_what_is_reached_alone():
    one, other, unseen = (nn.Parameter(torch.ones(2)) for _ in range(3))
    optimiser = Adam([{"params": [one]}, {"params": [other, unseen]}], 0.0, weight_decay=0.0)
    optimiser.update((one * 100).sum() + other.sum(), [0.1, 0.01])
    torch.testing.assert_close(one.detach(), torch.full((2,), 0.9))
    torch.testing.assert_close(other.detach(), torch.full((2,), 0.99), rtol=0, atol=1e-4)
    assert torch.equal(unseen.detach(), torch.ones(2))
    assert one.grad is not None
    assert one.grad.norm() <= 1.0
    optimiser.update(torch.zeros(()), [0.1, 0.01])
    torch.testing.assert_close(one.detach(), torch.full((2,), 0.9))
