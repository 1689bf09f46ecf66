"""Completion by the nearest facts: similar entities have similar values."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from kgraft.arrays import expand
from kgraft.graph import Fact
from kgraft.measure import Queries, QueryBatch
from kgraft.reason.memory.attention import attend
from kgraft.reason.memory.fact_memory import FactMemory
from kgraft.reason.reasons import Reason


class FactSource:
    """Ranks the answers of a query by what other entities have for the same relation.

    The query is said in words, as slots are. Of the slots of its relation that belong to other
    entities, the nearest M vote for their values with the attention on them. Give a memory of the
    training facts, and `fill` it before many queries.
    """

    name = "facts"
    is_probability = True

    def __init__(self, memory: FactMemory) -> None:
        self.memory, self.graph = memory, memory.graph

    @property
    def _slots(self) -> Queries:
        return self.memory.index.slots

    @cached_property
    def _by_relation(self) -> tuple[np.ndarray, np.ndarray]:
        """All slots in order of relation, and where those of each relation begin."""
        relations = np.arange(2 * self._slots.relations + 1)
        order = np.argsort(self._slots.relation, kind="stable")
        return order, np.searchsorted(self._slots.relation[order], relations)

    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return Σ a_i [v_i = v] for each entity v, (B, N)."""
        scores = np.zeros((len(batch), len(self.graph)), np.float32)
        for relation in np.unique(batch.relation).tolist():
            queries = np.flatnonzero(batch.relation == relation)
            rows = self._rows(relation)
            weights = self._attend(batch.entity[queries], relation, rows)
            owner, position = expand(self._slots.bounds[rows], self._slots.bounds[rows + 1])
            cells = (np.ones(len(owner), np.float32), (owner, self._slots.answer[position]))
            values = csr_array(cells, shape=(len(rows), len(self.graph)))
            scores[queries] = (weights @ values).toarray()
        return scores

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int) -> list[Reason]:
        """Return the nearest facts that lead to an answer, the strongest first.

        A path is the fact itself: it begins at the other entity, which is like the one asked about.
        """
        rows = self._rows(relation)
        weights = self._attend(np.array([entity]), relation, rows).toarray()[0]
        owner, position = expand(self._slots.bounds[rows], self._slots.bounds[rows + 1])
        holders = owner[self._slots.answer[position] == answer]
        holders = holders[weights[holders] > 0]
        best = holders[np.argsort(-weights[holders], kind="stable")][:limit]
        return [self._reason(entity, int(rows[n]), answer, float(weights[n])) for n in best]

    def _reason(self, entity: int, row: int, answer: int, weight: float) -> Reason:
        other, relation = int(self._slots.entity[row]), int(self._slots.relation[row])
        is_inverse, direct = divmod(relation, self._slots.relations)
        fact = Fact(answer, direct, other) if is_inverse else Fact(other, direct, answer)
        path = self.graph.path_of(other, [fact])
        like, own = self.graph.entities_at([other, entity])
        words = f"{path.verbalise()}, and {like.label} is like {own.label}"
        return Reason(self.name, words, weight, (path,))

    def _rows(self, relation: int) -> np.ndarray:
        """Return the slots of a relation."""
        order, begins = self._by_relation
        return order[begins[relation] : begins[relation + 1]]

    def _attend(self, entities: np.ndarray, relation: int, rows: np.ndarray) -> csr_array:
        """Return a_i (B, S) of the slots of other entities; at most M of a row are not 0."""
        settings = self.memory.settings
        queries = self.memory.encode(entities, np.full(len(entities), relation))
        dots = queries @ self.memory.index.vectors(rows).T  # (B, S)
        dots[entities[:, None] == self._slots.entity[rows]] = -np.inf
        nearest, weights = attend(dots, settings.slots, settings.temperature)
        row = np.repeat(np.arange(len(entities)), nearest.shape[1])
        cells = (weights.ravel().astype(np.float32), (row, nearest.ravel()))
        return csr_array(cells, shape=dots.shape)
