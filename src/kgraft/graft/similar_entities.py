"""What a graph would say: the facts of entities that are like one of which it says nothing.

Two entities are alike as far as the same entities are around them, and the same words in their
names and descriptions. With x(s) those around s and the words of s, each weighed by how few others
have it, and scaled to length 1,

    p(r, o | s) ∝ Σ_(s', r, o) (ε + (x(s) · x(s'))³)        over the facts of others, s' ≠ s

so that where nothing is alike, what holds most often is expected.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from kgraft.graph import Graph
from kgraft.graph.adjacency import expand
from kgraft.graph.fold import FoldedNames
from kgraft.vectors.entity_text import entity_texts

LEAST = 1e-6  # ε
POWER = 3
MOST = 64  # far ends, at most
AT_ONCE = 1 << 23  # numbers of a comparison with all others of a relation: 64 MB


class Alike:
    """Entities by what is around them in a graph, and by what they are called and said to be."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def expected(
        self, entity: np.ndarray, relation: np.ndarray, without: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return far ends that facts of entities and relations (P,) may have, with their weight.

        They come as row of the pair, far end, and a number that p(r, o | s) is a share of, the
        greatest first. What is said of an entity and the one that it is `without` does not count;
        below 0 that is none.
        """
        asked = np.stack([relation, entity, without], axis=1)
        distinct, which = np.unique(asked, axis=0, return_inverse=True)
        row, far, mass = self._distinct(*distinct.T)
        bounds = np.searchsorted(row, np.arange(len(distinct) + 1))
        pair, place = expand(bounds[which], bounds[which + 1])
        return pair, far[place], mass[place]

    def _distinct(
        self, relation: np.ndarray, entity: np.ndarray, without: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Do the work of `expected` for rows that are in order of their relation."""
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        asked = self._asked(entity, without)
        for number in np.unique(relation).tolist():
            rows = slice(*np.searchsorted(relation, [number, number + 1]))
            near, ends, facts = self._facts[number]
            if not len(near):
                continue
            others, count = self._vectors[near].T, max(1, AT_ONCE // len(near))
            for first in range(rows.start, rows.stop, count):
                some = slice(first, min(first + count, rows.stop))
                alike = (asked[some] @ others).toarray() ** POWER + LEAST  # (n, near)
                alike[near == entity[some][:, None]] = 0.0
                row, place, mass = _best((facts.T @ alike.T).T)
                parts.append((first + row, ends[place], mass))
        row, far, mass = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((-mass, row))
        return row[order], far[order], mass[order]

    @cached_property
    def _vectors(self) -> sparse.csr_array:
        """x of all entities, (N, N + W)."""
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
        around = sparse.csr_array((rare, (row, far)), shape=(len(entity), count))
        found = sparse.hstack([around, self._words[entity]], format="csr")
        lengths = np.sqrt(found.power(2).sum(1))
        return (sparse.diags_array(1 / np.maximum(lengths, LEAST)) @ found).tocsr()

    @cached_property
    def _words(self) -> sparse.csr_array:
        """The words of all entities, each once, (N, W)."""
        count = len(self.graph.entities)
        texts = entity_texts(self.graph, np.arange(count), ("label", "description"))
        folded = FoldedNames.of(texts)
        distinct, word = np.unique(folded.tokens.hashes(), return_inverse=True)
        entity = np.repeat(np.arange(count), np.diff(folded.bounds))
        entity, word = np.divmod(np.unique(entity * len(distinct) + word), max(len(distinct), 1))
        rare = np.log1p(count / np.bincount(word))[word]
        return sparse.csr_array((rare, (entity, word)), shape=(count, len(distinct)))

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
    """Return row, column and value of the greatest numbers of each row, above 0."""
    most = min(MOST, scores.shape[1])
    column = np.argpartition(-scores, most - 1, axis=1)[:, :most]
    held = np.take_along_axis(scores, column, axis=1)
    row, place = np.nonzero(held > 0)
    return row, column[row, place], held[row, place]
