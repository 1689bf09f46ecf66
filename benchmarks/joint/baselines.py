"""Readers of entities to compare a joint model with: fixed vectors, a plain GCN, the graph alone.

See `kgraft.tasks.graph_reader` for what a reader is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.graph.adjacency import expand
from kgraft.joint import JointModel, open_memory
from kgraft.tasks.graph_reader import AT_ONCE
from kgraft.vectors import GraphAttention, neighbourhoods


class FixedVectors(nn.Module):
    """Vectors as they are."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self._vectors = vectors

    def forward(self, entities: np.ndarray, *, seed: int) -> Tensor:
        """Return the vectors of entities, (n, F)."""
        del seed
        return self._vectors[torch.from_numpy(entities)]


@torch.no_grad()
def fixed(model: JointModel, graph: Graph, readings: int = 1) -> FixedVectors:
    """Return what a joint model knows of all entities as it is, the mean of some readings."""
    model.eval()
    memory, entities = open_memory(model, graph), np.arange(len(graph.entities))
    vectors = [
        [model.entity_vectors(graph, memory, part, seed=seed) for seed in range(readings)]
        for part in np.array_split(entities, len(entities) // AT_ONCE + 1)
    ]
    return FixedVectors(torch.cat([torch.stack(read).mean(0) for read in vectors]))


class PlainGcn(nn.Module):
    """Two layers of Kipf and Welling's: Â ReLU(Â X W1) W2, Â = D^-½ (A + I) D^-½, relations unseen.

    X are vectors of the entities' texts; ÂX is made once.
    """

    def __init__(self, graph: Graph, texts: Tensor, *, dropout: float = 0.3) -> None:
        super().__init__()
        self._adjacency = graph.adjacency
        self._scale = torch.from_numpy((graph.adjacency.degree() + 1.0) ** -0.5).float()
        self._once = self._mixed(np.arange(len(texts)), texts)
        size = texts.shape[1]
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, entities: np.ndarray, *, seed: int) -> Tensor:
        """Return the vectors of entities, (n, F); nothing is sampled, so the seed is not used."""
        del seed
        first, last = self._adjacency.spans(entities, "both")
        near = self._adjacency.edges[expand(first, last)[1], 1]
        distinct = np.unique(np.concatenate([entities, near]))
        inner = torch.relu(self.first(self.dropout(self._once[torch.from_numpy(distinct)])))
        return self._mixed(entities, self.second(self.dropout(inner)), distinct)

    def _mixed(
        self, rows: np.ndarray, vectors: Tensor, entities: np.ndarray | None = None
    ) -> Tensor:
        """Return rows of Â times the vectors of all entities, or of `entities`, in order."""
        row, edge = expand(*self._adjacency.spans(rows, "both"))
        far = self._adjacency.edges[edge, 1].astype(np.int64)
        row, far = np.append(row, np.arange(len(rows))), np.append(far, rows)
        column = far if entities is None else np.searchsorted(entities, far)
        weight = self._scale[torch.from_numpy(rows[row])] * self._scale[torch.from_numpy(far)]
        weighted = vectors[torch.from_numpy(column)] * weight[:, None]
        total = vectors.new_zeros(len(rows), vectors.shape[1])
        return total.index_add(0, torch.from_numpy(row), weighted)


class GraphAlone(nn.Module):
    """Graph attention that knows of an entity only which relations it has."""

    def __init__(self, graph: Graph, size: int, fan_out: Sequence[int]) -> None:
        super().__init__()
        self._graph, self._fan_out = graph, tuple(fan_out)
        self.attention = GraphAttention(size)
        self.relations = nn.Parameter(torch.randn(len(graph.relations), size) * 0.1)
        self.entity = nn.Parameter(torch.zeros(size))

    def forward(self, entities: np.ndarray, *, seed: int) -> Tensor:
        """Return the vectors of entities, (n, F)."""
        sampled = neighbourhoods(self._graph, entities, self._fan_out, seed=seed)
        first = self.entity.expand(len(sampled.entity), -1)
        vectors: Tensor = self.attention(sampled, first, self.relations)
        return vectors
