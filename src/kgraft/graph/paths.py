"""What lies around and between entities: k-hop subgraphs, and paths up to length three."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kgraft.arrays import expand
from kgraft.graph.adjacency import Adjacency, TripleArrays
from kgraft.graph.entity import GraphPath
from kgraft.graph.stored import StoredGraph

_MOST_EDGES = 20_000_000  # looked at for one question, so that hubs cannot fill the memory


@dataclass(frozen=True)
class Subgraph:
    """Entities, ascending, and the triples among them, all by their indices in the whole graph."""

    entities: np.ndarray  # (N,) int64
    triples: TripleArrays


class Fact(NamedTuple):
    """A triple by index, as the graph has it; a path is a chain of facts."""

    head: int
    relation: int
    tail: int


@dataclass(frozen=True)
class IndexPath:
    """A chain of triples by index: entities[i] –relations[i]– entities[i + 1].

    `forward[i]` tells whether the triple is (entities[i], relation, entities[i + 1]) or its
    reverse.
    """

    entities: tuple[int, ...]
    relations: tuple[int, ...]
    forward: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.relations)

    def facts(self) -> list[Fact]:
        """Return the triples of the path, from its start on."""
        steps = zip(pairwise(self.entities), self.relations, self.forward, strict=True)
        return [
            Fact(near, relation, far) if forward else Fact(far, relation, near)
            for (near, far), relation, forward in steps
        ]


def reach(adjacency: Adjacency, roots: np.ndarray, hops: int, *, most: int) -> np.ndarray:
    """Return the entities up to `hops` triples away, ascending; nearest first up to `most`."""
    members = np.unique(roots).astype(np.int64)
    frontier = members
    for _ in range(hops):
        others = adjacency.edges[adjacency.rows(frontier, "both")[1], 1]
        frontier = np.setdiff1d(others, members)[: max(0, most - len(members))]
        members = np.union1d(members, frontier)
    return members


def subgraph(
    adjacency: Adjacency,
    triples: TripleArrays,
    roots: np.ndarray,
    hops: int,
    *,
    most: int = 100_000,
) -> Subgraph:
    """Return all within `hops` triples of the roots, and every triple between two of them."""
    members = reach(adjacency, roots, hops, most=most)
    heads = members.astype(triples.head.dtype)  # another type would copy all of the column
    first, last = (np.searchsorted(triples.head, heads, side=side) for side in ("left", "right"))
    _, row = expand(first, last)
    kept = row[np.isin(triples.tail[row], members)]
    return Subgraph(members, triples.take(kept))


@dataclass(frozen=True)
class _Edges:
    """Edges from sources to targets, in either direction of the triple."""

    source: np.ndarray
    relation: np.ndarray
    target: np.ndarray
    forward: np.ndarray

    @classmethod
    def of(cls, adjacency: Adjacency, entities: np.ndarray) -> _Edges:
        owner, row = adjacency.rows(entities, "both")
        source, edge = entities[owner], adjacency.edges[row]
        return cls(source, edge[:, 0], edge[:, 1], row < adjacency.bounds[2 * source + 1])

    def take(self, rows: np.ndarray) -> _Edges:
        return _Edges(self.source[rows], self.relation[rows], self.target[rows], self.forward[rows])

    def reverse(self) -> _Edges:
        return _Edges(self.target, self.relation, self.source, ~self.forward)

    def __len__(self) -> int:
        return len(self.source)


def paths_between(
    adjacency: Adjacency, start: int, end: int, *, longest: int = 3, limit: int = 100
) -> list[IndexPath]:
    """Return paths without repeated entities: shorter first, then those through rarer entities."""
    if start == end or longest < 1:
        return []
    near, far = (_Edges.of(adjacency, np.array([e])) for e in (start, end))
    near, far = (edges.take(edges.source != edges.target) for edges in (near, far))
    inner, outer = near.take(near.target != end), far.take(far.target != start).reverse()
    chains: list[Callable[[], list[_Edges]]] = [
        lambda: [near.take(near.target == end)],
        lambda: _join(inner, outer),
        lambda: _join3(inner, _middle(adjacency, inner, outer), outer),
    ]
    paths: list[IndexPath] = []
    for chain in chains[:longest]:
        if len(paths) < limit:
            paths += _paths(adjacency, chain(), limit - len(paths))
    return paths


def _middle(adjacency: Adjacency, inner: _Edges, outer: _Edges) -> _Edges:
    """Return the edges from an entity beside the start to one beside the end."""
    left_ends, right_ends = np.unique(inner.target), np.unique(outer.source)
    degree, other = (adjacency.degree(entities=part) for part in (left_ends, right_ends))
    is_reversed = other.sum() < degree.sum()
    sources, targets, costs = (
        (right_ends, left_ends, other) if is_reversed else (left_ends, right_ends, degree)
    )
    order = np.argsort(costs, kind="stable")  # the rarest entities first, hubs while there is room
    room = np.cumsum(costs[order]) <= _MOST_EDGES
    edges = _Edges.of(adjacency, np.sort(sources[order[room]]))
    edges = edges.take(np.isin(edges.target, targets) & (edges.source != edges.target))
    return edges.reverse() if is_reversed else edges


def _pairs(left_keys: np.ndarray, right_keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all (i, j) with left[i] == right[j]."""
    order = np.argsort(right_keys, kind="stable")
    i, j = expand(
        *(np.searchsorted(right_keys[order], left_keys, side=side) for side in ("left", "right"))
    )
    return i, order[j]


def _join(inner: _Edges, outer: _Edges) -> list[_Edges]:
    i, j = _pairs(inner.target, outer.source)
    return [inner.take(i), outer.take(j)]


def _join3(inner: _Edges, middle: _Edges, outer: _Edges) -> list[_Edges]:
    i, j = _pairs(inner.target, middle.source)
    first, between = inner.take(i), middle.take(j)
    i, j = _pairs(between.target, outer.source)
    return [first.take(i), between.take(i), outer.take(j)]


def _paths(adjacency: Adjacency, chain: list[_Edges], limit: int) -> list[IndexPath]:
    """Order the rows of a chain of edges by how common their inner entities are."""
    weight = np.zeros(len(chain[0]))
    for edges in chain[:-1]:
        weight += np.log1p(adjacency.degree(entities=edges.target))
    columns = [part for e in reversed(chain) for part in (e.forward, e.relation, e.target)]
    rows = np.lexsort((*columns, weight))[:limit]
    return [
        IndexPath(
            (int(chain[0].source[row]), *(int(e.target[row]) for e in chain)),
            tuple(int(e.relation[row]) for e in chain),
            tuple(bool(e.forward[row]) for e in chain),
        )
        for row in rows
    ]


def graph_paths(
    graph: StoredGraph, start: int, end: int, *, longest: int, limit: int
) -> list[GraphPath]:
    """Return the paths between two entities, with the entities and relations themselves."""
    paths = paths_between(graph.adjacency, start, end, longest=longest, limit=limit)
    indices = sorted({index for path in paths for index in path.entities})
    entities = dict(zip(indices, graph.entities_at(indices), strict=True))
    return [
        GraphPath(
            tuple(entities[index] for index in path.entities),
            tuple(graph.all_relations[index] for index in path.relations),
            path.forward,
        )
        for path in paths
    ]


def path_of(graph: StoredGraph, start: int, facts: Iterable[Fact]) -> GraphPath:
    """Return a chain of facts that begins at an entity, with the entities and relations."""
    entities, relations, forward = [start], [], []
    for head, relation, tail in facts:
        leaves = head == entities[-1]
        entities.append(tail if leaves else head)
        relations.append(graph.all_relations[relation])
        forward.append(leaves)
    return GraphPath(tuple(graph.entities_at(entities)), tuple(relations), tuple(forward))
