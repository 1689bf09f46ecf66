"""Neighbour vectors: what stands next to an entity, the mean of its neighbours' vectors."""

from __future__ import annotations

import numpy as np
import torch

from kgraft.vectors.entity_vectors import NONE, EntityVectors
from kgraft.vectors.neighbour_fallback import EDGES, edge_blocks


class NeighbourVectors(EntityVectors):
    """The mean vector of the neighbours of an entity, by `vectors`; zeros where it has none.

    Of an entity in several triples with the same neighbour, that one counts as often. The triples
    are those of the graph that `vectors` were opened on: of one split, where it is one.
    """

    def __init__(self, vectors: EntityVectors) -> None:
        self.vectors, self.graph = vectors, vectors.graph
        self.dimension = vectors.dimension

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        distinct, inverse = np.unique(entities, return_inverse=True)
        degree = self.graph.adjacency.degree(entities=distinct)
        means = torch.zeros(len(distinct), self.dimension)
        for block in edge_blocks(degree):
            count = torch.from_numpy(degree[block].clip(1))[:, None]
            means[torch.from_numpy(block)] = self._sums(distinct[block]) / count
        return means[torch.from_numpy(inverse)]

    def _sums(self, entities: np.ndarray) -> torch.Tensor:
        """Return the sums of the neighbours' vectors, (n, D)."""
        adjacency = self.graph.adjacency
        owner, row = adjacency.rows(entities, "both")
        sums = torch.zeros(len(entities), self.dimension)
        for first in range(0, len(row), EDGES):
            part = slice(first, first + EDGES)
            others = self.vectors.take(adjacency.edges[row[part], 1])  # (E, D)
            sums.index_add_(0, torch.from_numpy(owner[part]), others)
        return sums

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        degree = self.graph.adjacency.degree(entities=entities)
        return np.where(degree > 0, "neighbours", NONE)
