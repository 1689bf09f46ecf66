"""Adagrad and Adam against PyTorch's, whole and by rows."""

import pytest
import torch

from kgraft.embed.optimisers import OPTIMISERS
from kgraft.embed.settings import OPTIMISERS as NAMES

PEERS = {"adagrad": torch.optim.Adagrad, "adam": torch.optim.Adam}
every = pytest.mark.parametrize("name", OPTIMISERS)


def drawn(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_every_name_has_an_optimiser_and_a_peer():
    assert set(NAMES) == OPTIMISERS.keys() == PEERS.keys()


@every
def test_each_step_is_that_of_torch(name):
    table = drawn(5, 3, seed=0)
    peer_table = table.clone().requires_grad_()
    ours, peer = OPTIMISERS[name](table), PEERS[name]([peer_table], lr=0.1)
    for step in range(6):
        rate = 0.1 / (step + 1)
        gradient = drawn(5, 3, seed=step + 1) * 10.0 ** (step - 3)
        gradient[step % 5] = 0
        peer.param_groups[0]["lr"] = rate
        peer_table.grad = gradient.clone()
        peer.step()
        ours.update(table, gradient, None, rate)
        torch.testing.assert_close(table, peer_table.detach(), rtol=1e-6, atol=1e-7)


@every
def test_all_rows_named_is_the_whole_table(name):
    whole = drawn(5, 3, seed=0)
    named = whole.clone()
    one, other = OPTIMISERS[name](whole), OPTIMISERS[name](named)
    for step in range(4):
        gradient = drawn(5, 3, seed=step + 1)
        order = torch.randperm(5, generator=torch.Generator().manual_seed(step))
        one.update(whole, gradient, None, 0.1)
        other.update(named, gradient[order], order, 0.1)
    assert torch.equal(whole, named)
    for part, tensor in one.state().items():
        assert torch.equal(tensor, other.state()[part])


@every
def test_rows_that_are_not_named_stay_to_the_bit(name):
    table = drawn(6, 3, seed=0)
    optimiser = OPTIMISERS[name](table)
    optimiser.update(table, drawn(6, 3, seed=1), None, 0.1)
    before = {"table": table.clone()} | {k: v.clone() for k, v in optimiser.state().items()}
    rows = torch.tensor([4, 1])
    optimiser.update(table, drawn(2, 3, seed=2), rows, 0.1)
    after = {"table": table, **optimiser.state()}
    others = torch.tensor([0, 2, 3, 5])
    for part, tensor in after.items():
        if part != "steps":
            assert torch.equal(tensor[others], before[part][others])
            assert (tensor[rows] != before[part][rows]).all()


@every
def test_state_is_all_that_is_remembered(name):
    table = drawn(4, 2, seed=0)
    first = OPTIMISERS[name](table)
    first.update(table, drawn(4, 2, seed=1), None, 0.1)
    copy = table.clone()
    second = OPTIMISERS[name](copy)
    for part, tensor in second.state().items():
        tensor.copy_(first.state()[part])
    for optimiser, held in ((first, table), (second, copy)):
        optimiser.update(held, drawn(1, 2, seed=2), torch.tensor([3]), 0.1)
    assert torch.equal(table, copy)
