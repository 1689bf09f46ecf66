"""Ancestor vectors: what an entity is a kind of, all the way up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array

from kgraft.graph import Graph
from kgraft.vectors.entity_vectors import ORIGIN, EntityVectors

HOPS = 20  # steps upwards: more than the longest way in WordNet


class AncestorVectors(EntityVectors):
    """A vector that encodes the ancestors of an entity: v = r + the mean of its parents' v.

    r is a random vector of each entity, the same for the same graph and seed: whether one thing is
    among the ancestors of another shows in the product of its r and the other's v. `upwards` are
    the relations that lead to a parent, such as hypernym or subclass of.
    """

    def __init__(
        self, graph: Graph, upwards: Sequence[str], *, dimension: int = 128, seed: int = 0
    ) -> None:
        self.graph, self.dimension = graph, dimension
        leading = [graph.relation(name).index for name in upwards]
        up = np.isin(graph.triples.relation, leading)
        child, parent = (np.asarray(end)[up] for end in (graph.triples.head, graph.triples.tail))
        random = np.random.default_rng(seed)
        own = random.standard_normal((len(self), dimension), np.float32) * dimension**-0.5
        self._vectors = torch.from_numpy(climbed(own, child, parent))

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        return self._vectors[torch.from_numpy(entities)]

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        return np.full(len(entities), "neighbours", ORIGIN)


def climbed(own: np.ndarray, child: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Return own + the mean of the parents' sums, (N, D); of circles, as far as the steps go."""
    count = len(own)
    share = 1 / np.bincount(child, minlength=count).clip(1)
    parents = csr_array((share[child].astype(own.dtype), (child, parent)), (count, count))
    sums = own
    for _ in range(HOPS):
        sums = own + parents @ sums
    return sums
