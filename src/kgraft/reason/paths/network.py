"""Bellman-Ford networks: over the graph of relations, and over the graph itself.

    h⁰(v) = 1[v = u] · q
    hᵗ(v) = relu(norm(W [hᵗ⁻¹(v), h⁰(v) + Σ_{(v, r, x)} hᵗ⁻¹(x) ∘ wᵗ(r)])) + hᵗ⁻¹(v)

Over relations, q is a vector of ones and wᵗ one learned vector per kind of edge. Over entities, q
is what the first network says of the asked relation, and wᵗ(r) a small network of what it says of
r.
Galkin et al. 2024, Towards foundation models for knowledge graph reasoning (ULTRA).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad, relu

from kgraft.reason.paths.edge_rows import EdgeRows
from kgraft.reason.paths.kernel import propagate

Trace = list[tuple[Tensor, Tensor, Tensor]]
"""The states before each layer, the vectors of its edges, and what arrived."""


class Update(nn.Module):
    """The new state of a node, from its state and what arrived."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(2 * width, width)
        self.layer_norm = nn.LayerNorm(width)

    def forward(self, states: Tensor, arrived: Tensor) -> Tensor:
        """Take states and messages (B, N, D) to states (B, N, D)."""
        own, sent = self.linear.weight.chunk(2, dim=1)  # so that nothing is concatenated
        mixed = linear(states, own) + linear(arrived, sent, self.linear.bias)
        return relu(self.layer_norm(mixed)) + states


class RelationLayer(Update):
    """A layer over the graph of relations."""

    def __init__(self, width: int, kinds: int) -> None:
        super().__init__(width)
        self.relation = nn.Parameter(torch.randn(kinds, width))

    def edge_vectors(self, like: Tensor) -> Tensor:
        """Return the vectors of kinds of edges, (B, kinds, D)."""
        return self.relation.expand(len(like), -1, -1)


class EntityLayer(Update):
    """A layer over the graph."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.relation_projection = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )

    def edge_vectors(self, relations: Tensor) -> Tensor:
        """Return wᵗ (B, Q, D) of the vectors of relations (B, Q, D)."""
        vectors: Tensor = self.relation_projection(relations)
        return vectors


class RelationNetwork(nn.Module):
    """The vectors of all relations, as a query for one of them sees them."""

    def __init__(self, width: int, layers: int, kinds: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList(RelationLayer(width, kinds) for _ in range(layers))

    def forward(self, asked: Tensor, graph: EdgeRows) -> Tensor:
        """Return vectors (B, 2R, D) of all relations for asked relations (B,)."""
        start = torch.zeros(len(asked), graph.nodes, self.width)
        start[torch.arange(len(asked)), asked] = 1.0
        return bellman_ford(self.layers, start, start, graph, [graph.nodes] * len(self.layers))


class EntityNetwork(nn.Module):
    """The states of entities, as a query sees them."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EntityLayer(width) for _ in range(layers))

    def forward(
        self,
        start: Tensor,
        relations: Tensor,
        edges: EdgeRows,
        rows: Sequence[int],
        trace: Trace | None = None,
    ) -> Tensor:
        """Return states (B, rows, D); `start` is h⁰ of the first entities, zero for the rest.

        Layer t reaches the first `rows[t]` entities.
        """
        return bellman_ford(self.layers, start, relations, edges, rows, trace)


def bellman_ford(
    layers: nn.ModuleList,
    start: Tensor,
    relations: Tensor,
    edges: EdgeRows,
    rows: Sequence[int],
    trace: Trace | None = None,
) -> Tensor:
    """Return the states after all layers; a trace gets what each layer worked with."""
    states = start
    for layer, reached in zip(layers, rows, strict=True):
        vectors: Tensor = layer.edge_vectors(relations)  # type: ignore[operator]
        arrived = propagate(states, vectors, edges, reached)
        if trace is not None:
            trace.append((states, vectors, arrived))
        states = layer(_grown(states, reached), arrived + _grown(start, reached))
    return states


def _grown(states: Tensor, rows: int) -> Tensor:
    """Return states with zeros for the entities that are reached only now."""
    return pad(states, (0, 0, 0, rows - states.shape[1]))
