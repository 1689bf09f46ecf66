"""Attention vectors: what a trained graph attention makes of entities and their neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.vectors.entity_vectors import EntityVectors
from kgraft.vectors.graph_attention import GraphAttention
from kgraft.vectors.memory import Memory
from kgraft.vectors.neighbourhood import neighbourhoods

AT_ONCE = 1024  # entities


class MemoryVectors(EntityVectors):
    """The entities of a memory."""

    def __init__(self, graph: Graph, memory: Memory) -> None:
        if memory.counts["entities"] != len(graph.entities):
            raise BadInput(
                f"the memory holds {memory.counts['entities']:,} entities, "
                f"the graph {len(graph.entities):,}",
                remedy="give the memory of this graph",
            )
        self.graph, self.memory, self.dimension = graph, memory, memory.size

    def _take(self, entities: np.ndarray) -> Tensor:
        return self.memory.take(torch.from_numpy(np.asarray(entities, np.int64)))

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        return np.full(len(entities), "text")


class AttentionVectors(EntityVectors):
    """Graph attention over any vectors: `relations` (R, F) are those of the graph's relations.

    The neighbourhood of an entity is sampled; the same seed gives the same vectors.
    """

    def __init__(
        self,
        vectors: EntityVectors,
        relations: Tensor,
        attention: GraphAttention,
        fan_out: Sequence[int],
        *,
        seed: int = 0,
    ) -> None:
        self.vectors, self.graph, self.dimension = vectors, vectors.graph, vectors.dimension
        self.relations, self.attention = relations, attention
        self.fan_out, self.seed = tuple(fan_out), seed

    @torch.no_grad()
    def _take(self, entities: np.ndarray) -> Tensor:
        distinct, inverse = np.unique(entities, return_inverse=True)
        training = self.attention.training
        self.attention.eval()
        vectors = [torch.zeros(0, self.dimension)]
        for first in range(0, len(distinct), AT_ONCE):
            roots = distinct[first : first + AT_ONCE]
            neighbourhood = neighbourhoods(self.graph, roots, self.fan_out, seed=self.seed + first)
            first_vectors = self.vectors.take(neighbourhood.entity)
            vectors.append(self.attention(neighbourhood, first_vectors, self.relations))
        self.attention.train(training)
        return torch.cat(vectors)[torch.from_numpy(inverse)]

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        return self.vectors.origin(entities)
