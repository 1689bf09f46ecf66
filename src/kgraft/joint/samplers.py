"""What joint pre-training asks for: walks over the graph, and entities to tell others from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgraft.arrays import rank_within
from kgraft.graph import Graph, random_walks, sample_neighbourhood


@dataclass(frozen=True)
class Categories:
    """The most frequent types of a graph, and which of them each entity has."""

    names: list[str]
    of: np.ndarray  # (N,) the first of an entity's types that is among them, -1 where none is

    @classmethod
    def of_graph(cls, graph: Graph, most: int) -> Categories:
        """Count the types of a graph."""
        types = [row or [] for row in graph.entities["types"].to_pylist()]
        counts = Counter(name for row in types for name in row)
        names = [name for name, _ in sorted(counts.items(), key=lambda x: (-x[1], x[0]))[:most]]
        index = {name: n for n, name in enumerate(names)}
        first = [next((index[name] for name in row if name in index), -1) for row in types]
        return cls(names, np.array(first, np.int64))


class GraphBatch(NamedTuple):
    """Entities on walks, and what is asked of them."""

    entity: np.ndarray  # (n,)
    hidden: np.ndarray  # (n, 2) the entities before and after it on its walk, -1 for none
    head: np.ndarray  # (p,) rows of entities between which a relation holds
    tail: np.ndarray  # (p,)
    relation: np.ndarray  # (p,)

    @classmethod
    def empty(cls) -> GraphBatch:
        """Return a batch without an entity."""
        none = np.zeros(0, np.int64)
        return cls(none, np.zeros((0, 2), np.int64), none, none, none)


def sample_walks(graph: Graph, roots: int, length: int, random: np.random.Generator) -> GraphBatch:
    """Walk from entities drawn at random among those that have an edge."""
    linked = np.flatnonzero(graph.adjacency.degree() > 0)
    if not len(linked):
        return GraphBatch.empty()
    start = random.choice(linked, roots)
    walks = random_walks(graph.adjacency, start, length, seed=int(random.integers(1 << 31)))
    entity = walks.entities.astype(np.int64)
    is_entity = entity >= 0
    row = np.cumsum(is_entity).reshape(is_entity.shape) - 1
    is_step = walks.relations >= 0
    forward = walks.forward[is_step]
    before, after = row[:, :-1][is_step], row[:, 1:][is_step]
    return GraphBatch(
        entity[is_entity],
        _previous_and_next(entity)[is_entity],
        np.where(forward, before, after),
        np.where(forward, after, before),
        walks.relations[is_step].astype(np.int64),
    )


def _previous_and_next(walk: np.ndarray) -> np.ndarray:
    """Return the entities before and after each one of some walks (W, L), (W, L, 2)."""
    none = np.full((len(walk), 1), -1, np.int64)
    previous, following = np.hstack([none, walk[:, :-1]]), np.hstack([walk[:, 1:], none])
    return np.stack([previous, following], -1)


def negative_candidates(
    graph: Graph,
    gold: np.ndarray,
    neighbours: int,
    random_negatives: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Return candidates for masked mentions, (n, 1 + neighbours + random negatives).

    The gold one comes first. -1 stands where there are fewer, and for the gold one among the
    others.
    """
    near = np.full((len(gold), neighbours), -1, np.int64)
    if len(gold):
        seed = int(random.integers(1 << 31))
        hop = sample_neighbourhood(graph.adjacency, gold, [neighbours], seed=seed)[0]
        order = np.argsort(hop.source, kind="stable")
        source = hop.source[order]
        near[source, rank_within(source)] = hop.target[order]
    far = random.integers(len(graph.entities), size=random_negatives)
    others = np.hstack([near, np.broadcast_to(far, (len(gold), random_negatives))])
    return np.hstack([gold[:, None], np.where(others == gold[:, None], -1, others)])
