"""What the facts of a relation have in common, so that answers without it do not come up.

Each rule is judged by the facts themselves, each as seen from all others: how many break it? A rule
that hardly any fact breaks is respected.

| rule | an answer breaks it that |
| --- | --- |
| irreflexive | is the asked entity itself |
| asymmetric | has the asked entity as its own answer |
| exclusive | answers the same for another entity ("Paris is the capital of France") |
| typed | has types, and none of them is one of the other answers' |
| functional | stands beside another answer that the asked entity has already |

The last one speaks against all new answers of a query alike, so that it changes no order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import csr_array

from kgraft.columns import list_rows, numbers
from kgraft.graph import Graph
from kgraft.measure.queries import Queries, QueryBatch

RULES = ("irreflexive", "asymmetric", "exclusive", "typed", "functional")
RARE = 0.03  # of facts that break a rule, below which it is respected
PRIOR = 20.0  # facts of the whole graph that a relation's own are added to, for irreflexivity
RELATIONS = 256  # whose allowed answers are kept


@dataclass(frozen=True)
class _Facts:
    """The edges of a graph in both directions, each once."""

    entity: np.ndarray
    relation: np.ndarray
    answer: np.ndarray


class Plausibility:
    """Which answers of a query go against what all facts of its relation have in common.

    >>> world = Graph.open("world")
    >>> sense = Plausibility(world)
    >>> sense.against(world.index("Peru"), world.relation("borders").index, world.index("Peru"))
    ['irreflexive']
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.relations = graph.manifest.relations
        triples = graph.split("train").triples
        self.queries = Queries.of(triples, self.relations)
        self._breaks = self._count_breaks()
        self._never_cached = lru_cache(RELATIONS)(self._never)

    def respected(self, rule: str) -> np.ndarray:
        """Return for which relations and inverses a rule is respected, (2R,) bool."""
        if rule == "functional":  # what is exclusive the other way round
            return np.roll(self.respected("exclusive"), self.relations)
        return self._breaks[RULES.index(rule)] < RARE

    def implausible(self, batch: QueryBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers that break a rule of their query: (row of the batch, entity), flat."""
        rows, answers = [], []
        for row, (entity, relation) in enumerate(
            zip(batch.entity.tolist(), batch.relation.tolist(), strict=True)
        ):
            broken = self._implausible(entity, relation)
            rows.append(np.full(len(broken), row))
            answers.append(broken)
        empty = [np.zeros(0, np.int64)]
        return np.concatenate(empty + rows), np.concatenate(empty + answers)

    def never_answers(self, relation: int) -> np.ndarray:
        """Return the entities that are no new answer to any query of a relation or inverse."""
        return self._never_cached(relation)

    def is_settled(self, entity: int, relation: int) -> bool:
        """Tell whether a query has an answer, where facts of its relation have only one."""
        has_one = bool(self.respected("functional")[relation])
        return has_one and len(self._answers(entity, relation)) > 0

    def against(self, entity: int, relation: int, answer: int) -> list[str]:
        """Return the rules that an answer breaks."""
        checks: dict[str, Callable[[], bool]] = {
            "irreflexive": lambda: answer == entity,
            "asymmetric": lambda: answer != entity and entity in self._answers(answer, relation),
            "exclusive": lambda: self._has_other(answer, self._inverse(relation), entity),
            "typed": lambda: bool(self._mistyped(relation)[answer]),
            "functional": lambda: self._has_other(entity, relation, answer),
        }
        return [
            rule for rule, check in checks.items() if self.respected(rule)[relation] and check()
        ]

    def _implausible(self, entity: int, relation: int) -> np.ndarray:
        answers = [self.never_answers(relation)]
        if self.respected("irreflexive")[relation]:
            answers.append(np.array([entity]))
        if self.respected("asymmetric")[relation]:
            answers.append(self._answers(entity, self._inverse(relation)))
        own = self._answers(entity, relation)
        return np.setdiff1d(np.concatenate(answers), own)

    def _answers(self, entity: int, relation: int) -> np.ndarray:
        batch = QueryBatch(np.array([entity]), np.array([relation]))
        return self.queries.known(batch)[1]

    def _has_other(self, entity: int, relation: int, answer: int) -> bool:
        """Tell whether a query has answers, but not this one."""
        answers = self._answers(entity, relation)
        return len(answers) > 0 and answer not in answers

    def _inverse(self, relation: int) -> int:
        return (relation + self.relations) % (2 * self.relations)

    def _never(self, relation: int) -> np.ndarray:
        broken = np.zeros(len(self.graph), bool)
        if self.respected("exclusive")[relation]:
            inverse = self.queries.relation == self._inverse(relation)
            broken[self.queries.entity[inverse]] = True
        if self.respected("typed")[relation]:
            broken |= self._mistyped(relation)
        return np.flatnonzero(broken)

    def _mistyped(self, relation: int) -> np.ndarray:
        """Return which entities have types, but none of a relation's answers, (N,) bool."""
        allowed = self._answer_types[[relation]].toarray()[0] > 0
        typed = np.diff(self._types.indptr) > 0
        mistyped: np.ndarray = typed & (self._types @ allowed.astype(np.float32) == 0)
        return mistyped

    # What is learnt

    @cached_property
    def _types(self) -> csr_array:
        """Which entity has which type, (N, types) of 0 and 1."""
        row, names = list_rows(self.graph.entities["types"])
        encoded = names.dictionary_encode()
        column = numbers(encoded.indices) if len(names) else np.zeros(0, np.int64)
        shape = (len(self.graph), max(len(encoded.dictionary), 1))
        types = csr_array((np.ones(len(row), np.float32), (row, column)), shape=shape)
        types.data[:] = 1
        return types

    @cached_property
    def _answer_pairs(self) -> csr_array:
        """Which entity answers which relation or inverse, (2R, N) of 0 and 1."""
        facts = self._facts
        ones = np.ones(len(facts.entity), np.float32)
        shape = (2 * self.relations, len(self.graph))
        pairs = csr_array((ones, (facts.relation, facts.answer)), shape=shape)
        pairs.data[:] = 1
        return pairs

    @cached_property
    def _answer_types(self) -> csr_array:
        """How many answers of a relation or inverse have a type, (2R, types)."""
        return csr_array(self._answer_pairs @ self._types)

    @cached_property
    def _facts(self) -> _Facts:
        lengths = np.diff(self.queries.bounds)
        return _Facts(
            np.repeat(self.queries.entity, lengths),
            np.repeat(self.queries.relation, lengths),
            self.queries.answer,
        )

    def _count_breaks(self) -> np.ndarray:
        """Return the smoothed fraction of facts of each relation that break each rule, (4, 2R)."""
        facts, size = self._facts, 2 * self.relations
        total = np.bincount(facts.relation, minlength=size)
        loops = np.bincount(facts.relation, facts.entity == facts.answer, minlength=size)
        prior = (loops.sum() + 1) / (total.sum() + 2)
        rates = [(loops + PRIOR * prior) / (total + PRIOR)]
        rates += [
            (np.bincount(facts.relation, broken, minlength=size) + 1) / (total + 2)
            for broken in (self._is_mirrored(), self._is_shared(), self._is_of_new_type())
        ]
        return np.stack(rates)

    def _is_mirrored(self) -> np.ndarray:
        """Return which facts hold the other way round, too."""
        facts, entities = self._facts, len(self.graph)
        keys = (facts.relation * entities + facts.entity) * entities + facts.answer
        mirrored = (facts.relation * entities + facts.answer) * entities + facts.entity
        return np.isin(mirrored, keys) & (facts.entity != facts.answer)

    def _is_shared(self) -> np.ndarray:
        """Return which facts have an answer that answers for another entity, too."""
        facts, entities = self._facts, len(self.graph)
        keys = facts.relation * entities + facts.answer
        _, group, count = np.unique(keys, return_inverse=True, return_counts=True)
        return count[group] > 1

    def _is_of_new_type(self) -> np.ndarray:
        """Return which facts have an answer with types, of which no other answer has one."""
        types = self._types
        typed = np.diff(types.indptr) > 0
        pairs = self._answer_pairs.tocoo()
        relation, answer = pairs.coords
        others = csr_array(self._answer_types)[relation].multiply(types[answer]) > 1
        fits_pair = np.asarray(others.sum(1)).ravel() > 0
        keys = relation.astype(np.int64) * len(self.graph) + answer
        order = np.argsort(keys)
        own = self._facts.relation * len(self.graph) + self._facts.answer
        fits = fits_pair[order[np.searchsorted(keys[order], own)]]
        return typed[self._facts.answer] & ~fits
