"""What joint pre-training asks for: walks over the graph, and entities to tell others from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgraft.graph import Graph
from kgraft.graph.adjacency import rank_within
from kgraft.graph.sampling import random_walks, sample_neighbourhood


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
        number = {name: n for n, name in enumerate(names)}
        first = [next((number[name] for name in row if name in number), -1) for row in types]
        return cls(names, np.array(first, np.int64))


class GraphBatch(NamedTuple):
    """Entities on walks, and what is asked of them."""

    entity: np.ndarray  # (n,)
    hidden: np.ndarray  # (n, 2) the entities before and after it on its walk, -1 for none
    head: np.ndarray  # (p,) rows of entities between which a relation holds
    tail: np.ndarray  # (p,)
    relation: np.ndarray  # (p,)


def walk(graph: Graph, roots: int, length: int, random: np.random.Generator) -> GraphBatch:
    """Walk from entities drawn at random among those that have an edge."""
    linked = np.flatnonzero(graph.adjacency.degree() > 0)
    if not len(linked):
        nothing = np.zeros(0, np.int64)
        return GraphBatch(nothing, np.zeros((0, 2), np.int64), nothing, nothing, nothing)
    start = random.choice(linked, roots)
    walks = random_walks(graph.adjacency, start, length, seed=int(random.integers(1 << 31)))
    entity = walks.entities.astype(np.int64)
    edge = np.full((roots, 1), -1, np.int64)
    around = np.stack([np.hstack([edge, entity[:, :-1]]), np.hstack([entity[:, 1:], edge])], -1)
    there = entity >= 0
    row = np.cumsum(there).reshape(there.shape) - 1
    went, forward = walks.relations >= 0, walks.forward
    before, after = row[:, :-1][went], row[:, 1:][went]
    head = np.where(forward[went], before, after)
    tail = np.where(forward[went], after, before)
    relation = walks.relations[went].astype(np.int64)
    return GraphBatch(entity[there], around[there], head, tail, relation)


def rivals(
    graph: Graph, gold: np.ndarray, neighbours: int, strangers: int, random: np.random.Generator
) -> np.ndarray:
    """Return candidates for masked mentions, the right one first, (n, 1 + neighbours + strangers).

    -1 stands where there are fewer, and for the right one among the others.
    """
    near = np.full((len(gold), neighbours), -1, np.int64)
    if len(gold):
        seed = int(random.integers(1 << 31))
        hop = sample_neighbourhood(graph.adjacency, gold, [neighbours], seed=seed)[0]
        order = np.argsort(hop.source, kind="stable")
        source = hop.source[order]
        near[source, rank_within(source)] = hop.target[order]
    far = random.integers(len(graph.entities), size=strangers)
    others = np.hstack([near, np.broadcast_to(far, (len(gold), strangers))])
    return np.hstack([gold[:, None], np.where(others == gold[:, None], -1, others)])
