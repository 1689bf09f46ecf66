"""Triples as queries: (entity, relation or inverse) with all the answers it has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgraft.graph.adjacency import TripleArrays, expand
from kgraft.graph.columns import run_starts


@dataclass(frozen=True)
class Queries:
    """Distinct queries, sorted, each with its answers.

    A triple (h, r, t) answers two: what are tails of h by r, and (relation R + r) what are heads.
    """

    entity: np.ndarray  # (Q,)
    relation: np.ndarray  # (Q,) or its inverse, R + r
    bounds: np.ndarray  # (Q + 1,) where each query's answers begin
    answer: np.ndarray  # (A,)
    relations: int  # R

    @classmethod
    def of(cls, triples: TripleArrays, relations: int) -> Queries:
        """Gather the queries of triples in both directions."""
        entity = np.concatenate([triples.head, triples.tail]).astype(np.int64)
        relation = np.concatenate([triples.relation, triples.relation + relations]).astype(np.int64)
        answer = np.concatenate([triples.tail, triples.head]).astype(np.int64)
        order = np.lexsort((answer, relation, entity))
        entity, relation, answer = entity[order], relation[order], answer[order]
        key = entity * (2 * relations) + relation
        fresh = np.ones(len(key), bool)  # a triple may stand in two splits
        fresh[1:] = (key[1:] != key[:-1]) | (answer[1:] != answer[:-1])
        key, answer = key[fresh], answer[fresh]
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
        """Return how many answers a query of each relation or inverse has on average, (2R,)."""
        size = 2 * self.relations
        batch = np.bincount(self.relation, minlength=size)
        answers = np.bincount(self.relation, weights=np.diff(self.bounds), minlength=size)
        return answers / np.maximum(batch, 1)

    def answers(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers of queries by number: (row within `numbers`, answer), flat."""
        row, place = expand(self.bounds[numbers], self.bounds[numbers + 1])
        return row, self.answer[place]

    def known(self, entity: np.ndarray, relation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers of queries by content: (row, answer), flat; none where unknown."""
        key = entity.astype(np.int64) * (2 * self.relations) + relation
        place = np.searchsorted(self._keys, key)
        found = np.flatnonzero(place < len(self))
        found = found[self._keys[place[found]] == key[found]]
        row, answer = self.answers(place[found])
        return found[row], answer
