"""What a graph would say: the facts of entities that are like one of which it says nothing.

Two entities are alike as far as the same entities are around them. With x(s) those around s, each
weighed by how few others it is around, and scaled to length 1,

    p(o | s, r) ∝ Σ_(s', r, o) (ε + (x(s) · x(s'))²)        over the facts of others, s' ≠ s

so that where nothing is alike, what holds most often is expected.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from kgraft.graph import Graph
from kgraft.graph.adjacency import expand

LEAST = 1e-6  # ε
MOST = 64  # far ends, at most
AT_ONCE = 1 << 23  # numbers of a comparison with all others of a relation: 64 MB


class Alike:
    """Entities by what is around them in a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def expected(
        self, entity: np.ndarray, relation: np.ndarray, without: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return far ends that facts of entities and relations (P,) may have, with p(o | s, r).

        They come as row of the pair, far end, and how likely it is, the likeliest first. What is
        said of an entity and the one that it is `without` does not count; below 0 that is none.
        """
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        asked = self._asked(entity, without)
        for number in np.unique(relation).tolist():
            rows = np.flatnonzero(relation == number)
            near, ends, facts = self._facts[number]
            if not len(near):
                continue
            others, count = self._vectors[near].T, max(1, AT_ONCE // len(near))
            for first in range(0, len(rows), count):
                some = rows[first : first + count]
                alike = (asked[some] @ others).toarray() ** 2 + LEAST  # (n, near)
                alike[near == entity[some][:, None]] = 0.0
                row, place, share = _best((facts.T @ alike.T).T)
                parts.append((some[row], ends[place], share))
        row, far, share = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((-share, row))
        return row[order], far[order], share[order]

    @cached_property
    def _vectors(self) -> sparse.csr_array:
        """x of all entities, (N, N)."""
        entities = np.arange(len(self.graph.entities))
        return self._asked(entities, np.full(len(entities), -1))

    def _asked(self, entity: np.ndarray, without: np.ndarray) -> sparse.csr_array:
        """Return x of entities, each as if nothing joined it to one other."""
        adjacency, count = self.graph.adjacency, len(self.graph.entities)
        row, edge = expand(*adjacency.spans(entity, "both"))
        far = adjacency.edges[edge, 1].astype(np.int64)
        kept = far != without[row]
        row, far = row[kept], far[kept]
        rare = np.log1p(count / adjacency.degree(entities=far))
        found = sparse.csr_array((rare, (row, far)), shape=(len(entity), count))
        lengths = np.sqrt(found.power(2).sum(1))
        return (sparse.diags_array(1 / np.maximum(lengths, LEAST)) @ found).tocsr()

    @cached_property
    def _facts(self) -> list[tuple[np.ndarray, np.ndarray, sparse.csr_array]]:
        """By relation: the entities it holds of, its far ends, and which go together."""
        triples, found = self.graph.triples, []
        order = np.argsort(triples.relation, kind="stable")
        bounds = np.searchsorted(triples.relation[order], np.arange(len(self.graph.relations) + 1))
        for first, last in pairwise(bounds.tolist()):
            rows = order[first:last]
            near, row = np.unique(triples.head[rows], return_inverse=True)
            ends, column = np.unique(triples.tail[rows], return_inverse=True)
            held = sparse.csr_array((np.ones(len(rows)), (row, column)), (len(near), len(ends)))
            found.append((near, ends.astype(np.int64), held))
        return found


def _best(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and share of its row of the greatest numbers of each row, above 0."""
    most = min(MOST, scores.shape[1])
    column = np.argpartition(-scores, most - 1, axis=1)[:, :most]
    held = np.take_along_axis(scores, column, axis=1)
    row, place = np.nonzero(held > 0)
    return row, column[row, place], held[row, place] / scores.sum(1)[row]
