"""Split: a graph divided again into train, valid and test without leakage between them.

A triple whose relation has an inverse is answered by the reversed triple, so both must fall on
one side. Which relations are inverse to one another, symmetric, or duplicates is found from the
triples: Akrami et al., Realistic re-evaluation of knowledge graph completion methods (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgraft.arrays import expand, run_starts
from kgraft.errors import BadInput
from kgraft.graph.adjacency import TripleArrays, sorted_columns
from kgraft.graph.folder import GRAPH, Manifest
from kgraft.graph.graph import Graph
from kgraft.graph.write import Content, Provenance, write_graph
from kgraft.progress import Progress, Silent
from kgraft.storage import refuse_existing

OVERLAP = 0.5  # share of the smaller relation's pairs from which on two relations are mirrors


@dataclass(frozen=True)
class RelationPair:
    """Two relations (or one and itself) whose triples join the same entities."""

    first: int
    second: int
    inverse: bool  # whether the heads of one are the tails of the other
    shared: int  # pairs of entities that both have
    share: float  # of the pairs of the one that has fewer
    share_of_larger: float  # of the pairs of the one that has more


def mirrored_relations(graph: Graph, *, overlap: float = OVERLAP) -> list[RelationPair]:
    """Return the symmetric relations, and pairs of inverse or duplicate ones, most shared first.

    shared(r, s) = |{(h, t) : (h, r, t), h ≠ t} ∩ {(h, t) : (t, s, h)}| for inverses, with (h, s, t)
    for duplicates; a pair is one where shared(r, s) / min(|r|, |s|) ≥ `overlap`.
    """
    relations = graph.manifest.relations
    head, relation, tail = _distinct(graph.triples)
    size = np.bincount(relation, minlength=relations)
    first, second, inverse, shared = _shared_pairs(head, relation, tail)
    share = shared / np.maximum(np.minimum(size[first], size[second]), 1)
    share_of_larger = shared / np.maximum(np.maximum(size[first], size[second]), 1)
    order = np.lexsort((first, -shared, -share))
    rows = order[share[order] >= overlap]
    columns = (first, second, inverse, shared, share, share_of_larger)
    return [RelationPair(*row) for row in zip(*(c[rows].tolist() for c in columns), strict=True)]


def _distinct(triples: TripleArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return head, relation and tail of each triple once, whatever its splits."""
    columns = (triples.head, triples.relation, triples.tail)
    new = run_starts(*columns) if len(triples) else np.zeros(0, bool)
    return tuple(np.asarray(column[new], np.int64) for column in columns)  # type: ignore[return-value]


def _shared_pairs(
    head: np.ndarray, relation: np.ndarray, tail: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return first ≤ second relation, whether inverse, and how many pairs both have."""
    apart = head != tail
    relations = int(relation.max(initial=0)) + 1
    group, link, forward = _parallel_links(head[apart], relation[apart], tail[apart])
    bounds = (np.searchsorted(group, group, side=side) for side in ("left", "right"))
    first, second = expand(*bounds)  # every row with every row of the same two entities
    kept = (first != second) & (link[first] <= link[second])
    first, second = first[kept], second[kept]
    opposite = forward[first] != forward[second]
    code, count = np.unique(
        (link[first] * relations + link[second]) * 2 + opposite, return_counts=True
    )
    pair, inverse = np.divmod(code, 2)
    return pair // relations, pair % relations, inverse == 1, count


def _parallel_links(
    head: np.ndarray, relation: np.ndarray, tail: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pair of entities, relation and direction of the triples whose pair has several.

    They are in order of the pairs, which are numbered; a loop must not be among the triples.
    """
    low, high = np.minimum(head, tail), np.maximum(head, tail)
    entities, relations = int(high.max(initial=0)) + 1, int(relation.max(initial=0)) + 1
    columns = [(low, entities), (high, entities), (relation, relations), (head < tail, 2)]
    low, high, link, forward = sorted_columns(columns)
    group = np.cumsum(run_starts(low, high)) - 1 if len(low) else low
    several = np.bincount(group)[group] > 1 if len(low) else np.zeros(0, bool)
    return group[several], link[several].astype(np.int64), forward[several]


def leaking_triples(graph: Graph, mirrored: list[RelationPair]) -> np.ndarray:
    """Return which triples are held out though train has the same two entities so related."""
    t = graph.triples
    group = _groups(t.head, t.relation, t.tail, _classes(mirrored, graph.manifest.relations))
    in_train = np.bincount(group[t.split == 0], minlength=int(group.max(initial=-1)) + 1) > 0
    leaks: np.ndarray = (t.split != 0) & in_train[group]
    return leaks


@dataclass(frozen=True)
class Resplit:
    """A graph with new splits, and what was kept together."""

    graph: Graph
    mirrored: list[RelationPair]
    wanted: dict[str, int]  # triples asked for per split; fewer are held out where train needs them


def split_graph(
    graph: Graph,
    target: Path,
    *,
    valid: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    overlap: float = OVERLAP,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Resplit:
    """Write the graph with its triples divided again at random.

    Triples of the same two entities under mirrored relations stay together, and every entity and
    relation of a triple keeps one in train. Where that needs more triples, fewer are held out.
    """
    _check_sizes(valid, test, seed)
    refuse_existing(target, GRAPH, overwrite=overwrite)
    graph, progress = graph.whole(), progress or Silent()
    progress.start("splitting", None)
    mirrored = mirrored_relations(graph, overlap=overlap)
    head, relation, tail = _distinct(graph.triples)
    counts = [round(fraction * len(head)) for fraction in (valid, test)]
    group = _groups(head, relation, tail, _classes(mirrored, graph.manifest.relations))
    side = _divide(head, relation, tail, group, counts, seed)
    content = _with_triples(graph, head, relation, tail, side)
    provenance = _provenance(graph.manifest, seed)
    write_graph(target, content, provenance, overwrite=overwrite, progress=progress)
    wanted = {"train": len(head) - sum(counts), "valid": counts[0], "test": counts[1]}
    return Resplit(Graph.open(target), mirrored, wanted)


def _check_sizes(valid: float, test: float, seed: int) -> None:
    if not (0 <= valid < 1 and 0 <= test < 1 and valid + test < 1):
        raise BadInput(
            f"valid {valid:g} and test {test:g} leave nothing to train on",
            remedy="their sum must be below 1, and neither below 0",
        )
    if seed < 0:
        raise BadInput(f"the seed is {seed}; it must not be negative")


def _with_triples(
    graph: Graph, head: np.ndarray, relation: np.ndarray, tail: np.ndarray, split: np.ndarray
) -> Content:
    """Return the content of a graph with other triples."""
    triples = TripleArrays(
        head.astype(np.int32), relation.astype(np.int32), tail.astype(np.int32), split
    )
    return Content(graph.entities, graph.relations, triples, graph.literal_tables)


def _provenance(old: Manifest, seed: int) -> Provenance:
    return Provenance(
        name=old.name,
        source=f"{old.source}, split with seed {seed}",
        licence=old.licence,
        parent=old.version,
        left_out=old.left_out,
        refused=old.refused,
    )


def _classes(mirrored: list[RelationPair], relations: int) -> np.ndarray:
    """Return a number for each relation, the same for those that are mirrors, however far."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array([(pair.first, pair.second) for pair in mirrored], np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(ends), bool), ends.T), shape=(relations, relations))
    index: np.ndarray = connected_components(matrix, directed=False)[1]
    return index


def _groups(
    head: np.ndarray, relation: np.ndarray, tail: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Return the group of each triple: the same two entities, either way, and class."""
    low, high, kind = np.minimum(head, tail), np.maximum(head, tail), classes[relation]
    order = _order(low, high, kind)
    group = np.empty(len(head), np.int64)
    starts = run_starts(low[order], high[order], kind[order]) if len(head) else np.zeros(0, bool)
    group[order] = np.cumsum(starts) - 1
    return group


def _order(*columns: np.ndarray) -> np.ndarray:
    """Return an order in which equal rows stand together: packed into one number if that fits."""
    bits = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(bits) > 63:
        return np.lexsort(columns)
    packed = np.zeros(len(columns[0]), np.int64)
    for column, width in zip(columns, bits, strict=True):
        packed <<= width
        packed |= column
    return np.argsort(packed)


def _divide(
    head: np.ndarray,
    relation: np.ndarray,
    tail: np.ndarray,
    group: np.ndarray,
    counts: list[int],
    seed: int,
) -> np.ndarray:
    """Return the split of each triple, position in SPLITS.

    Groups are held out in random order until enough triples are. Those that would leave an entity
    or a relation without a triple in train go back, the next ones take their place, and so on.
    """
    groups = int(group.max(initial=-1)) + 1
    rank = np.random.default_rng(seed).permutation(groups)[group]  # of each triple's group
    size = np.bincount(rank, minlength=groups)
    things = _Coverage(head, relation, tail, rank)
    free = size <= sum(counts)  # may be held out
    free[things.only()] = False
    is_held_out = np.zeros(groups, bool)
    while True:
        candidates = np.flatnonzero(free)
        enough = np.cumsum(size[candidates]) <= sum(counts)
        is_held_out[:] = False
        is_held_out[candidates[enough]] = True
        needed = things.needed(is_held_out)
        if not len(needed):
            break
        free[needed] = False
    return _sides(size, is_held_out, counts)[rank]


def _sides(size: np.ndarray, is_held_out: np.ndarray, counts: list[int]) -> np.ndarray:
    """Return the split of each group: those held out are shared between valid and test."""
    chosen = np.flatnonzero(is_held_out)
    share = counts[1] / max(sum(counts), 1)  # where fewer are held out, of both
    in_test = np.cumsum(size[chosen]) <= round(share * int(size[chosen].sum()))
    side = np.zeros(len(size), np.int8)
    side[chosen] = np.where(in_test, 2, 1)
    return side


class _Coverage:
    """Which groups must stay in train so that every entity and relation occurs there."""

    def __init__(
        self, head: np.ndarray, relation: np.ndarray, tail: np.ndarray, rank: np.ndarray
    ) -> None:
        entities = int(max(head.max(initial=-1), tail.max(initial=-1))) + 1
        thing = np.concatenate([head, tail, relation + entities])
        sizes = int(thing.max(initial=0)) + 1, int(rank.max(initial=0)) + 1
        columns = [(thing, sizes[0]), (np.tile(rank, 3), sizes[1])]
        thing, group = sorted_columns(columns)
        distinct = run_starts(thing, group) if len(thing) else np.zeros(0, bool)
        thing, self._group = thing[distinct], group[distinct]
        starts = run_starts(thing) if len(thing) else np.zeros(0, bool)
        self._first = np.flatnonzero(starts)
        self._last = np.append(self._first[1:], len(thing)) - 1

    def only(self) -> np.ndarray:
        """Return the groups that are the only one of some thing."""
        return self._group[self._first[self._first == self._last]]

    def needed(self, is_held_out: np.ndarray) -> np.ndarray:
        """Return for each thing that is in no other group than those held out its last one."""
        if not len(self._first):
            return np.zeros(0, np.int64)
        in_train = np.logical_or.reduceat(~is_held_out[self._group], self._first)
        return np.unique(self._group[self._last[~in_train]])
