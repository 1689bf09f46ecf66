"""Triples as queries: an entity and a relation, with all the answers they have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgraft.arrays import expand, run_starts
from kgraft.graph import TripleArrays


@dataclass(frozen=True)
class QueryBatch:
    """Queries whose answers are to be scored: each an entity and a relation, maybe an inverse."""

    entity: np.ndarray  # (B,)
    relation: np.ndarray  # (B,)

    def __len__(self) -> int:
        return len(self.entity)


@dataclass(frozen=True)
class Queries:
    """Distinct queries, sorted, each with its answers.

    A triple (h, r, t) answers two queries: (h, r) asks for tails; (t, R + r) asks for heads, R + r
    being the inverse of r.
    """

    entity: np.ndarray  # (Q,)
    relation: np.ndarray  # (Q,) 0…R−1, R…2R−1 for inverse relations
    bounds: np.ndarray  # (Q + 1,) where each query's answers begin
    answer: np.ndarray  # (A,)
    relations: int  # R

    @classmethod
    def of(cls, triples: TripleArrays, relations: int) -> Queries:
        """Gather the queries of triples in both directions."""
        return cls.group(*triples.with_inverses(relations), relations)

    @classmethod
    def group(
        cls, entity: np.ndarray, relation: np.ndarray, answer: np.ndarray, relations: int
    ) -> Queries:
        """Gather the queries of rows that name one query and one answer each, in any order."""
        order = np.lexsort((answer, relation, entity))
        entity, relation, answer = entity[order], relation[order], answer[order]
        key = entity * (2 * relations) + relation
        distinct = np.ones(len(key), bool)  # a triple may stand in two splits
        distinct[1:] = (key[1:] != key[:-1]) | (answer[1:] != answer[:-1])
        key, answer = key[distinct], answer[distinct]
        starts = np.flatnonzero(run_starts(key))
        return cls(
            key[starts] // (2 * relations),
            key[starts] % (2 * relations),
            np.append(starts, len(key)),
            answer,
            relations,
        )

    def __len__(self) -> int:
        return len(self.entity)

    @cached_property
    def _keys(self) -> np.ndarray:
        return self.entity * (2 * self.relations) + self.relation

    def mean_answers(self) -> np.ndarray:
        """Return the mean number of answers to a query of each relation, (2R,)."""
        size = 2 * self.relations
        asked = np.bincount(self.relation, minlength=size)
        answers = np.bincount(self.relation, weights=np.diff(self.bounds), minlength=size)
        return answers / np.maximum(asked, 1)

    def answers(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers of queries by index: (row within `indices`, answer), flat."""
        row, position = expand(self.bounds[indices], self.bounds[indices + 1])
        return row, self.answer[position]

    def select(self, indices: np.ndarray) -> Queries:
        """Return some of the queries, in order, with their answers."""
        row, answer = self.answers(indices)
        lengths = np.bincount(row, minlength=len(indices))
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        chosen = np.asarray(indices)
        return Queries(self.entity[chosen], self.relation[chosen], bounds, answer, self.relations)

    def batch(self, indices: np.ndarray) -> QueryBatch:
        """Return some queries, without their answers."""
        return QueryBatch(self.entity[indices], self.relation[indices])

    def known(self, batch: QueryBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers of any queries: (row of the batch, answer), flat."""
        key = batch.entity.astype(np.int64) * (2 * self.relations) + batch.relation
        index = np.searchsorted(self._keys, key)
        row = np.flatnonzero(index < len(self))
        row = row[self._keys[index[row]] == key[row]]
        row_within, answer = self.answers(index[row])
        return row[row_within], answer
