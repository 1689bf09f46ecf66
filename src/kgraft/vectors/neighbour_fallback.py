"""Unseen entities from their neighbours: the mean of what each edge predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kgraft.arrays import run_starts
from kgraft.hashing import mix
from kgraft.vectors.cold_start import ColdStart, ColdStartVectors
from kgraft.vectors.trained import TrainedRows

MOST = 256  # edges of an entity that are looked at
EDGES = 1 << 14  # edges whose vectors are in memory at once
_ROWS = 1 << 20  # edges in memory at once

Guess = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""(neighbours (E, D), relations (E,), direction (E,)) → what the edges predict, (E, D)."""


@dataclass(frozen=True)
class Edges:
    """Edges between entities without a row and neighbours that have one."""

    owner: np.ndarray  # (E,) position of the entity without a row
    relation: np.ndarray  # (E,) index in the graph
    other: np.ndarray  # (E,) the neighbour
    direction: np.ndarray  # (E,) int8: 1 for (other, relation, owner), -1 for the reverse

    def take(self, chosen: np.ndarray) -> Edges:
        """Return some of the edges (positions or a mask)."""
        columns = (self.owner, self.relation, self.other, self.direction)
        return Edges(*(column[chosen] for column in columns))


@dataclass(frozen=True)
class NeighbourFallback(ColdStart):
    """The mean over an entity's edges of what each neighbour with a row predicts for it.

    With no `guess`, an edge predicts the neighbour's own vector. A `guess` is a model's way to go
    along an edge. It gets the neighbours' vectors, the relations by their rows in the table, and
    the direction: 1 where the triple is (neighbour, relation, entity), -1 where it is (entity,
    relation, neighbour); for TransE it is neighbour + direction·relation. Edges of relations that
    the table lacks are then left out. The mean is scaled to the median length of trained vectors,
    unless `rescale` is false. Of an entity with more than `most` edges, that many are chosen by
    their hash, so that the choice is without bias and always the same.
    """

    guess: Guess | None = None
    rescale: bool = True
    most: int = MOST

    def fill(self, entities: np.ndarray, trained: TrainedRows) -> ColdStartVectors:
        """Return the mean of the guesses for each entity."""
        filled = ColdStartVectors.none(len(entities), trained.dimension)
        for block in edge_blocks(trained.graph.adjacency.degree(entities=entities), self.most):
            edges = self._edges(entities[block], trained)
            means = self._means(edges, trained, len(block))
            lengths = torch.linalg.vector_norm(means, dim=1, keepdim=True)
            guessed = (lengths[:, 0] > 0).numpy()
            if self.rescale:
                means = means * (trained.usual_length / lengths)
            filled.put(block[guessed], means[torch.from_numpy(guessed)], "neighbours")
        return filled

    def _edges(self, entities: np.ndarray, trained: TrainedRows) -> Edges:
        adjacency = trained.graph.adjacency
        owner, row = adjacency.rows(entities, "both")
        relation, other = adjacency.edges[row].T
        leaves = row < adjacency.spans(entities, "out")[1][owner]
        direction = np.where(leaves, -1, 1).astype(np.int8)
        useful = trained.rows(other) >= 0
        if self.guess is not None:
            useful &= trained.relations[relation] >= 0
        edges = Edges(owner, relation, other.astype(np.int64), direction).take(useful)
        return _at_most(edges, entities, self.most)

    def _means(self, edges: Edges, trained: TrainedRows, count: int) -> torch.Tensor:
        guessed = trained.take(edges.other)  # (E, D)
        if self.guess is not None and len(guessed):
            rows = torch.from_numpy(trained.relations[edges.relation])
            with torch.no_grad():
                guessed = self.guess(guessed, rows, torch.from_numpy(edges.direction)).float()
        sums = torch.zeros(count, trained.dimension)
        sums.index_add_(0, torch.from_numpy(edges.owner), guessed)
        share = np.bincount(edges.owner, minlength=count).clip(1)
        return sums / torch.from_numpy(share)[:, None]


def edge_blocks(degree: np.ndarray, most: int = MOST) -> Iterator[np.ndarray]:
    """Yield the positions of entities in blocks of a bounded number of edges."""
    cost = np.maximum(degree / _ROWS, (np.minimum(degree, most) + 1) / EDGES)
    block = np.floor(np.cumsum(cost)).astype(np.int64)
    yield from np.split(np.arange(len(degree)), np.flatnonzero(np.diff(block)) + 1)


def _at_most(edges: Edges, entities: np.ndarray, most: int) -> Edges:
    """Return of each entity the `most` edges of lowest hash, in their order."""
    if np.bincount(edges.owner).max(initial=0) <= most:
        return edges
    key = mix(mix(edges.other.astype(np.uint64)) ^ entities[edges.owner].astype(np.uint64))
    key = mix(key ^ (edges.relation * 2 + (edges.direction > 0)).astype(np.uint64))
    order = np.lexsort((key, edges.owner))
    begins = np.flatnonzero(run_starts(edges.owner[order]))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff([*begins, len(order)]))
    return edges.take(np.sort(order[rank < most]))
