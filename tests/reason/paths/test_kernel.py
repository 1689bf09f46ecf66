"""The kernel against gather, multiply and index_add; its gradients against autograd."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reason.paths.tiny import few, triple_sets

from kgraft.reason.paths.edge_rows import EdgeRows
from kgraft.reason.paths.kernel import propagate


def naive(states, relations, triples, rows):
    """Send along each edge (node, relation, neighbour) between the nodes that take part."""
    size = states.shape[1]
    node, kind, neighbour = (torch.from_numpy(column) for column in triples.T)
    used = (node < rows) & (neighbour < size)
    sent = states[:, neighbour[used]] * relations[:, kind[used]]
    empty = torch.zeros(len(states), rows, states.shape[2])
    return empty.index_add(1, node[used], sent)


@st.composite
def cases(draw):
    """Draw edges, and random states of the first nodes and vectors of relations."""
    triples, nodes, kinds = draw(triple_sets(least=0, entities=14, most=50))
    queries, width = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    size, rows = draw(st.integers(1, nodes)), draw(st.integers(1, nodes))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    states = torch.randn(queries, size, width, generator=generator)
    relations = torch.randn(queries, kinds, width, generator=generator)
    return EdgeRows.of(*triples.T, nodes), triples, states, relations, rows


def slopes(function, states, relations, *others):
    """Return the gradients of a sum of what arrives, each number with a weight of its own."""
    states, relations = states.clone().requires_grad_(), relations.clone().requires_grad_()
    arrived = function(states, relations, *others)
    weight = torch.arange(1.0, arrived.numel() + 1).sin().view_as(arrived)
    return torch.autograd.grad((arrived * weight).sum(), (states, relations))


@few
@given(cases())
def test_what_arrives_is_the_naive_sum(case):
    edges, triples, states, relations, rows = case
    arrived = propagate(states, relations, edges, rows)
    torch.testing.assert_close(arrived, naive(states, relations, triples, rows))


@few
@given(cases())
def test_gradients_are_those_of_autograd(case):
    edges, triples, states, relations, rows = case
    ours = slopes(propagate, states, relations, edges, rows)
    theirs = slopes(naive, states, relations, triples, rows)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("size", "rows"), [(6, 6), (3, 6), (6, 4)])
def test_gradients_are_finite_differences(size, rows):
    """What arrives is linear in each number, so that differences over wide steps are exact."""
    random = np.random.default_rng(0)
    triples = np.stack([random.integers(n, size=20) for n in (6, 2, 6)], axis=1)
    edges = EdgeRows.of(*triples.T, 6)
    torch.manual_seed(0)
    inputs = [torch.randn(2, size, 3), torch.randn(2, 2, 3)]
    weight = torch.arange(1.0, 2 * rows * 3 + 1).sin().view(2, rows, 3)

    def total(states, relations):
        return float((propagate(states, relations, edges, rows) * weight).double().sum())

    for which, slope in enumerate(slopes(propagate, *inputs, edges, rows)):
        for index in product(*map(range, slope.shape)):
            ends = []
            for step in (-0.5, 0.5):
                moved = [tensor.clone() for tensor in inputs]
                moved[which][index] += step
                ends.append(total(*moved))
            assert float(slope[index]) == pytest.approx(ends[1] - ends[0], abs=1e-4)


def test_tensors_need_not_be_contiguous():
    triples = np.array([[0, 0, 1], [1, 1, 0], [2, 0, 1]])
    edges = EdgeRows.of(*triples.T, 3)
    states, relations = torch.randn(4, 3, 2).transpose(0, 2), torch.randn(1, 2, 4).expand(2, 2, 4)
    arrived = propagate(states, relations, edges, 3)
    torch.testing.assert_close(arrived, naive(states, relations, triples, 3))
    ours = slopes(propagate, states, relations, edges, 3)
    torch.testing.assert_close(ours, slopes(naive, states, relations, triples, 3))


def test_no_query_and_no_edge():
    triples = np.zeros((0, 3), np.int64)
    edges = EdgeRows.of(*triples.T, 3)
    assert propagate(torch.ones(0, 3, 2), torch.ones(0, 1, 2), edges, 3).shape == (0, 3, 2)
    assert not propagate(torch.ones(2, 3, 2), torch.ones(2, 1, 2), edges, 3).any()
