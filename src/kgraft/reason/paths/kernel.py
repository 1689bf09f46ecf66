"""Message passing in one kernel: gather, multiply and add without a tensor of edges × width.

    out[b, v] = Σ_{(v, r, x)} states[b, x] ∘ relations[b, r]

A node hears along its own edges. Within its row they ascend by the node at the other end, so that a
row is over where the states end: states need only cover the nodes that were reached so far.
"""

from __future__ import annotations

from typing import Any

import torch
from numba import njit, prange
from torch import Tensor

from kgraft.reason.paths.edge_rows import EdgeRows


def propagate(states: Tensor, relations: Tensor, edges: EdgeRows, rows: int) -> Tensor:
    """Return what arrives at the first `rows` nodes, (B, rows, D).

    `states` (B, S, D) are those of the first S nodes, the others send nothing; `relations` is
    (B, Q, D).
    """
    out: Tensor = _Propagate.apply(states, relations, edges, rows)  # type: ignore[no-untyped-call]
    return out


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
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
        _send(
            *(states.detach().numpy(), relations.detach().numpy(), out.numpy()),
            *(edges.bounds, edges.neighbour, edges.relation, edges.parts),
        )
        return out

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None, None]:  # type: ignore[override]  # noqa: ANN401
        states, relations = ctx.saved_tensors
        edges = ctx.edges
        to_states = torch.zeros_like(states)
        to_relations = relations.new_zeros(len(edges.parts) - 1, *relations.shape)
        _send_back(
            *(slope.contiguous().numpy(), states.detach().numpy(), relations.detach().numpy()),
            *(to_states.numpy(), to_relations.numpy()),
            *(edges.back_bounds, edges.hearer, edges.back_relation, edges.back_parts),
        )
        return to_states, to_relations.sum(0), None, None


@njit(parallel=True, cache=True, fastmath=True)
def _send(states, relations, out, bounds, neighbour, relation, parts):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    batch, size, width = states.shape
    rows = out.shape[1]
    count = len(parts) - 1
    for piece in prange(batch * count):
        b, part = piece // count, piece % count
        for node in range(parts[part], min(parts[part + 1], rows)):
            row = out[b, node]
            for edge in range(bounds[node], bounds[node + 1]):
                if neighbour[edge] >= size:
                    break
                state, weight = states[b, neighbour[edge]], relations[b, relation[edge]]
                for d in range(width):
                    row[d] += state[d] * weight[d]


@njit(parallel=True, cache=True, fastmath=True)
def _send_back(  # type: ignore[no-untyped-def]  # noqa: ANN202
    slope,
    states,
    relations,
    to_states,
    to_relations,
    bounds,
    hearer,
    relation,
    parts,  # noqa: ANN001
):
    batch, size, width = states.shape
    rows = slope.shape[1]
    count = len(parts) - 1
    for piece in prange(batch * count):
        b, part = piece // count, piece % count
        for node in range(parts[part], min(parts[part + 1], size)):
            state, to_state = states[b, node], to_states[b, node]
            for edge in range(bounds[node], bounds[node + 1]):
                if hearer[edge] >= rows:
                    break
                arrived, weight = slope[b, hearer[edge]], relations[b, relation[edge]]
                to_weight = to_relations[part, b, relation[edge]]
                for d in range(width):
                    to_state[d] += arrived[d] * weight[d]
                    to_weight[d] += arrived[d] * state[d]
