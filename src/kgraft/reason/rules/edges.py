"""`Edges`: the facts that rules are mined from, as runs of one entity and one relation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgraft.arrays import run_starts
from kgraft.graph import TripleArrays
from kgraft.reason.kernels import compiled


class Edges(NamedTuple):
    """Facts in both directions, sorted by source, relation, target; R + r is the inverse of r.

    A run is all edges of one entity with one relation. The run of (c, b) also stands for the
    condition b⁻¹(X, c): its targets are the entities X for which that holds. Self-loops are left
    out, as different terms of a rule mean different entities.
    """

    run_bounds: np.ndarray  # (N + 1,) the runs of each entity
    run_relation: np.ndarray  # (U,)
    run_entity: np.ndarray  # (U,)
    run_first: np.ndarray  # (U + 1,) the edges of each run
    target: np.ndarray  # (E,)
    inverse_run: np.ndarray  # (E,) the run in which the inverse of each edge is
    source_bounds: np.ndarray  # (2R + 1,) the sources of each relation
    sources: np.ndarray  # (U,)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self.run_bounds) - 1

    @property
    def relations(self) -> int:
        """How many relations there are, without inverses."""
        return (len(self.source_bounds) - 1) // 2

    def targets(self, entity: int, relation: int) -> np.ndarray:
        """Return the targets of an entity's edges of one relation, ascending."""
        run = run_of(self, entity, relation)
        if run < 0:
            return self.target[:0]
        return self.target[self.run_first[run] : self.run_first[run + 1]]

    def degrees(self) -> np.ndarray:
        """Return how many edges each entity has, (N,)."""
        return np.diff(self.run_first[self.run_bounds])


def make_edges(triples: TripleArrays, entities: int, relations: int) -> Edges:
    """Index triples by entity and relation, in both directions."""
    size = max(2 * relations, 1)
    pair, target = _distinct_edges(triples, relations)
    begins = np.flatnonzero(run_starts(pair)) if len(pair) else np.zeros(0, np.int64)
    runs = pair[begins]  # ascending
    run_entity, run_relation = runs // size, runs % size
    back = target * size + inverse(pair % size, relations)
    source_bounds, sources = _sources_by_relation(run_entity, run_relation, relations)
    return Edges(
        np.searchsorted(run_entity, np.arange(entities + 1)).astype(np.int64),
        run_relation.astype(np.int32),
        run_entity.astype(np.int32),
        np.append(begins, len(pair)).astype(np.int64),
        target.astype(np.int32),
        np.searchsorted(runs, back).astype(np.int32),
        source_bounds,
        sources,
    )


def _sources_by_relation(
    run_entity: np.ndarray, run_relation: np.ndarray, relations: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of each relation (2R + 1,) in the sources (U,), and the sources."""
    order = np.argsort(run_relation, kind="stable")
    bounds = np.searchsorted(run_relation[order], np.arange(2 * relations + 1))
    return bounds.astype(np.int64), run_entity[order].astype(np.int32)


def _distinct_edges(triples: TripleArrays, relations: int) -> tuple[np.ndarray, np.ndarray]:
    """Return source · 2R + relation and target of all edges, sorted, without self-loops."""
    source, relation, target = triples.with_inverses(relations)
    kept = source != target
    pair = source[kept] * (2 * relations) + relation[kept]
    order = np.lexsort((target[kept], pair))
    pair, target = pair[order], target[kept][order]
    distinct = run_starts(pair, target) if len(pair) else np.zeros(0, bool)
    return pair[distinct], target[distinct]


def inverse(relation: np.ndarray, relations: int) -> np.ndarray:
    """Return the inverse of relations among 0…2R − 1; what is below 0 stays as it is."""
    relation = np.asarray(relation)
    return np.where(relation < 0, relation, (relation + relations) % max(2 * relations, 1))


@compiled
def run_of(edges: Edges, entity: int, relation: int) -> int:
    """Return the run of an entity and a relation, −1 where there is none."""
    low, high = edges.run_bounds[entity], edges.run_bounds[entity + 1]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if edges.run_relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    if low < last and edges.run_relation[low] == relation:
        return low
    return -1


@compiled
def run_holds(edges: Edges, run: int, entity: int) -> bool:
    """Tell whether an entity is among the targets of a run."""
    low, high = edges.run_first[run], edges.run_first[run + 1]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if edges.target[middle] < entity:
            low = middle + 1
        else:
            high = middle
    return low < last and edges.target[low] == entity
