"""A map of entities in two dimensions: where each one stands, and which group it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.arrays import run_starts
from kgraft.columns import list_rows, take_rows
from kgraft.errors import import_optional
from kgraft.graph import Graph

PERPLEXITY = 30.0  # how many neighbours t-SNE keeps near
_FEW = 8  # too few for neighbourhoods


def project_vectors(vectors: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Return a point for each vector by t-SNE (van der Maaten, 2008) of directions: (n, 2).

    It starts from the two principal components, so that the large picture stays true; a handful
    of vectors stay there.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, 1e-12)  # (n, D)
    start = _principal(unit, seed)
    if len(unit) < _FEW:
        return _rotated(start)
    tsne = import_optional("sklearn.manifold", "plot").TSNE(
        perplexity=min(PERPLEXITY, (len(unit) - 1) / 3), init=start * 1e-4, random_state=seed
    )
    # With several threads, most of the time goes into waiting for one another.
    with import_optional("threadpoolctl", "plot").threadpool_limits(1):
        return _rotated(tsne.fit_transform(unit))


def _rotated(points: np.ndarray) -> np.ndarray:
    """Turn a map so that its longest side lies level; directions mean nothing in it."""
    centred = points - points.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ axes[:, ::-1])


def _principal(vectors: np.ndarray, seed: int) -> np.ndarray:
    """Return the two principal components at deviation 1, slightly shaken: (n, D) to (n, 2)."""
    centred = vectors - vectors.mean(0)
    directions, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    parts = (directions * sizes)[:, :2]  # one where there is but one coordinate
    shaken = np.random.default_rng(seed).normal(size=(len(vectors), 2)) * 1e-3
    shaken[:, : parts.shape[1]] += parts / max(parts.std(), 1e-12)
    return shaken.astype(np.float32)


@dataclass(frozen=True)
class Groups:
    """The groups of a map: their names, and the group of each entity, -1 for none."""

    kind: str  # type or relation
    names: Sequence[str]
    group: np.ndarray  # (n,)


def group_entities(graph: Graph, entities: np.ndarray, *, most: int) -> Groups:
    """Group entities by up to `most` types or, where they have none, by their main relations."""
    taken = take_rows(graph.entities.select(["types"]), entities)
    row, types = list_rows(taken["types"])
    if len(row):
        return Groups("type", *_cover(row, types.to_pylist(), len(entities), most))
    row, relation = _main_relations(graph, entities)
    names = [graph.all_relations[r].label or graph.all_relations[r].id for r in relation.tolist()]
    return Groups("relation", *_cover(row, names, len(entities), most))


def _cover(
    row: np.ndarray, names: Sequence[str], count: int, most: int
) -> tuple[list[str], np.ndarray]:
    """Choose names that cover most rows: each time the one most frequent where none is chosen yet.

    So *film actor* does not take a colour from *place* where *person* has one already. A name that
    all rows have is of no use, if there are others.
    """
    distinct, name = np.unique(np.array(names, object), return_inverse=True)
    useful = (np.bincount(name) < count) | (len(distinct) == 1)
    group = np.full(count, -1)
    chosen: list[str] = []
    while len(chosen) < most:
        size = np.bincount(name[group[row] < 0], minlength=len(distinct)) * useful
        if not size.any():
            break
        best = size.argmax()
        those = row[name == best]
        group[those[group[those] < 0]] = len(chosen)
        chosen.append(str(distinct[best]))
    return chosen, group


def _main_relations(graph: Graph, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the relation each entity has most triples of, for those that have any."""
    owner, edge = graph.adjacency.rows(entities, "both")
    relations = max(len(graph.relations), 1)
    key, count = np.unique(owner * relations + graph.adjacency.edges[edge, 0], return_counts=True)
    owner, relation = np.divmod(key, relations)
    order = np.lexsort((relation, -count, owner))
    first = order[run_starts(owner[order])]
    return owner[first], relation[first]
