"""Message passing in one kernel: gather, multiply and add without a tensor of edges × width.

    out[b, v] = Σ_{(v, r, x)} states[b, x] ∘ relations[b, r]

A node hears along its own edges. Within its row they ascend by the node at the other end, so that a
row is over where the states end: states need only cover the nodes that were reached so far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.reason.kernels import compiled, in_shares
from kgraft.reason.paths.edge_rows import PARTS, EdgeRows

SHARES = 16  # of the parts of all rows of a batch, for the processor's cores


def propagate(states: Tensor, relations: Tensor, edges: EdgeRows, rows: int) -> Tensor:
    """Return what arrives at the first `rows` nodes, (B, rows, D).

    `states` (B, S, D) are those of the first S nodes, the others send nothing; `relations` is
    (B, Q, D).
    """
    arrived: Tensor = _Propagate.apply(states, relations, edges, rows)  # type: ignore[no-untyped-call]
    return arrived


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        states: Tensor,
        relations: Tensor,
        edges: EdgeRows,
        rows: int,
    ) -> Tensor:
        states, relations = states.contiguous(), relations.contiguous()
        ctx.save_for_backward(states, relations)
        ctx.edges = edges
        out = states.new_zeros(len(states), rows, states.shape[2])
        tensors = (states.detach().numpy(), relations.detach().numpy(), out.numpy())

        def work(begin: int, end: int) -> None:
            columns = (edges.bounds, edges.neighbour, edges.relation, edges.parts)
            _send(begin, end, *tensors, *columns)

        in_shares(work, len(states) * PARTS, shares=SHARES)
        return out

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None, None]:  # noqa: ANN401
        states, relations = ctx.saved_tensors
        edges: EdgeRows = ctx.edges
        to_states = torch.zeros_like(states)
        to_relations = relations.new_zeros(PARTS, *relations.shape)  # parts may share relations
        given = (slope.contiguous().numpy(), states.numpy(), relations.numpy())
        made = (to_states.numpy(), to_relations.numpy())

        def work(begin: int, end: int) -> None:
            columns = (edges.back_bounds, edges.hearer, edges.back_relation, edges.back_parts)
            _send_back(begin, end, *given, *made, *columns)

        in_shares(work, len(states) * PARTS, shares=SHARES)
        return to_states, to_relations.sum(0), None, None


@compiled
def _send(
    begin: int,
    end: int,
    states: np.ndarray,
    relations: np.ndarray,
    out: np.ndarray,
    bounds: np.ndarray,
    neighbour: np.ndarray,
    relation: np.ndarray,
    parts: np.ndarray,
) -> None:
    """Add up what arrives at the nodes of some parts of some rows of a batch."""
    _, size, width = states.shape
    for piece in range(begin, end):
        b, part = piece // (len(parts) - 1), piece % (len(parts) - 1)
        for node in range(parts[part], min(parts[part + 1], out.shape[1])):
            row = out[b, node]
            for edge in range(bounds[node], bounds[node + 1]):
                if neighbour[edge] >= size:
                    break
                state, weight = states[b, neighbour[edge]], relations[b, relation[edge]]
                for d in range(width):
                    row[d] += state[d] * weight[d]


@compiled
def _send_back(
    begin: int,
    end: int,
    slope: np.ndarray,
    states: np.ndarray,
    relations: np.ndarray,
    to_states: np.ndarray,
    to_relations: np.ndarray,
    bounds: np.ndarray,
    hearer: np.ndarray,
    relation: np.ndarray,
    parts: np.ndarray,
) -> None:
    """Add up the gradients of states and relations, from the side of the node that is heard."""
    _, size, width = states.shape
    for piece in range(begin, end):
        b, part = piece // (len(parts) - 1), piece % (len(parts) - 1)
        for node in range(parts[part], min(parts[part + 1], size)):
            state, to_state = states[b, node], to_states[b, node]
            for edge in range(bounds[node], bounds[node + 1]):
                if hearer[edge] >= slope.shape[1]:
                    break
                arrived, weight = slope[b, hearer[edge]], relations[b, relation[edge]]
                to_weight = to_relations[part, b, relation[edge]]
                for d in range(width):
                    to_state[d] += arrived[d] * weight[d]
                    to_weight[d] += arrived[d] * state[d]
