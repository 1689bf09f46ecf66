"""Similar entities: what a graph lacks of an entity, by the facts of others that are like it.

Two entities are similar as far as the same entities are their neighbours, and as the same words are
in their names and descriptions. With x(s) the neighbours and the words of s, each weighted by how
few others have it, and scaled to length 1,

    p(r, o | s) ∝ Σ_(s', r, o) (ε + (x(s) · x(s'))³)        over the facts of others, s' ≠ s

so that where nothing is similar, what holds most often is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from kgraft.arrays import expand
from kgraft.graph import Graph
from kgraft.graph.names import FoldedNames
from kgraft.vectors import entity_texts

SMALLEST = 1e-6  # ε
POWER = 3
MOST_ENDS = 64  # per entity and relation
AT_ONCE = 1 << 23  # numbers of a comparison with all others of a relation: 64 MB


class SimilarEntityFacts:
    """Facts that a graph may lack, predicted from those of similar entities."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def predict(
        self, entity: np.ndarray, relation: np.ndarray, *, exclude: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return far ends that facts of entities and relations (P,) may have, with their scores.

        They come as row of the pair, far end, and a number that is proportional to p(r, o | s), the
        greatest first. What is said of an entity and the one to `exclude` does not count; a number
        below 0 excludes none.
        """
        queries = np.stack([relation, entity, exclude], axis=1)
        distinct, which = np.unique(queries, axis=0, return_inverse=True)
        row, far, score = self._predict_sorted(*distinct.T)
        bounds = np.searchsorted(row, np.arange(len(distinct) + 1))
        pair, index = expand(bounds[which], bounds[which + 1])
        return pair, far[index], score[index]

    def _predict_sorted(
        self, relation: np.ndarray, entity: np.ndarray, exclude: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Do the work of `predict` for rows that are in order of their relation."""
        queries = self._vectors_of(entity, exclude)
        parts = [
            (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)),
            *self._predict_blocks(relation, entity, queries),
        ]
        row, far, score = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((-score, row))
        return row[order], far[order], score[order]

    def _predict_blocks(
        self, relation: np.ndarray, entity: np.ndarray, queries: sparse.csr_matrix
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the rows, far ends and scores of a block of rows of one relation at a time."""
        for index in np.unique(relation).tolist():
            near, ends, facts = self._facts[index]
            first, last = np.searchsorted(relation, [index, index + 1]).tolist()
            for block in _blocks(first, last, len(near)):
                weights = self._weights(queries[block], entity[block], near)
                row, column, score = _best((facts.T @ weights.T).T)
                yield block.start + row, ends[column], score

    def _weights(
        self, queries: sparse.csr_array, entity: np.ndarray, others: np.ndarray
    ) -> np.ndarray:
        """Return ε + (x(s) · x(s'))³ of entities and others, 0 for an entity itself, (n, S)."""
        weights: np.ndarray = (queries @ self._vectors[others].T).toarray() ** POWER + SMALLEST
        weights[others == entity[:, None]] = 0.0
        return weights

    @cached_property
    def _vectors(self) -> sparse.csr_array:
        """x of all entities, (N, N + W)."""
        entities = np.arange(len(self.graph.entities))
        return self._vectors_of(entities, np.full(len(entities), -1))

    def _vectors_of(self, entity: np.ndarray, exclude: np.ndarray) -> sparse.csr_array:
        """Return x of entities, each as if nothing joined it to one other."""
        adjacency, count = self.graph.adjacency, len(self.graph.entities)
        row, edge = expand(*adjacency.spans(entity, "both"))
        far = adjacency.edges[edge, 1].astype(np.int64)
        is_used = far != exclude[row]
        row, far = row[is_used], far[is_used]
        rarity = np.log1p(count / adjacency.degree(entities=far))
        neighbours = sparse.csr_array((rarity, (row, far)), shape=(len(entity), count))
        vectors = sparse.hstack([neighbours, self._words[entity]], format="csr")
        lengths = np.sqrt(vectors.power(2).sum(1))
        return (sparse.diags_array(1 / np.maximum(lengths, SMALLEST)) @ vectors).tocsr()

    @cached_property
    def _words(self) -> sparse.csr_array:
        """The words of all entities, each once, (N, W)."""
        count = len(self.graph.entities)
        texts = entity_texts(self.graph, np.arange(count), ("label", "description"))
        folded = FoldedNames.of(texts)
        distinct, word = np.unique(folded.tokens.hashes(), return_inverse=True)
        entity = np.repeat(np.arange(count), np.diff(folded.bounds))
        entity, word = np.divmod(np.unique(entity * len(distinct) + word), max(len(distinct), 1))
        rarity = np.log1p(count / np.bincount(word))[word]
        return sparse.csr_array((rarity, (entity, word)), shape=(count, len(distinct)))

    @cached_property
    def _facts(self) -> list[tuple[np.ndarray, np.ndarray, sparse.csr_array]]:
        """By relation: the entities that have it, its far ends, and which go together."""
        triples, facts = self.graph.triples, []
        order = np.argsort(triples.relation, kind="stable")
        bounds = np.searchsorted(triples.relation[order], np.arange(len(self.graph.relations) + 1))
        for first, last in pairwise(bounds.tolist()):
            rows = order[first:last]
            near, row = np.unique(triples.head[rows], return_inverse=True)
            ends, column = np.unique(triples.tail[rows], return_inverse=True)
            shape = (len(near), len(ends))
            pairs = sparse.csr_array((np.ones(len(rows)), (row, column)), shape)
            facts.append((near, ends.astype(np.int64), pairs))
        return facts


def _blocks(first: int, last: int, others: int) -> Iterator[slice]:
    """Yield the rows first:last in blocks that can be compared with others at once."""
    if others:
        size = max(1, AT_ONCE // others)
        for start in range(first, last, size):
            yield slice(start, min(start + size, last))


def _best(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and value of the greatest numbers of each row, above 0."""
    count = min(MOST_ENDS, scores.shape[1])
    column = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    best = np.take_along_axis(scores, column, axis=1)
    row, rank = np.nonzero(best > 0)
    return row, column[row, rank], best[row, rank]
