"""`Explanation`: all that speaks for one fact, and against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgraft.graph import Entity, Fact, Graph, GraphPath, Relation
from kgraft.measure import Plausibility, QueryBatch
from kgraft.reason.reasons import Reason


@dataclass(frozen=True)
class Explanation:
    """All that speaks for one fact, and against it."""

    head: Entity
    relation: Relation
    tail: Entity
    known: bool
    rank: int  # of the tail among all entities that are not known answers
    probability: float | None
    reasons: tuple[Reason, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        return {
            "head": self.head.id,
            "relation": self.relation.id,
            "tail": self.tail.id,
            "known": self.known,
            "rank": self.rank,
            "probability": self.probability,
            "reasons": [reason.to_dict() for reason in self.reasons],
        }


def objections(
    graph: Graph, plausibility: Plausibility, head: int, relation: int, tail: int
) -> list[Reason]:
    """Return what all facts of the relation say against a fact."""
    reasons: dict[str, Reason] = {}
    inverse = relation + graph.manifest.relations
    for entity, which, answer in ((head, relation, tail), (tail, inverse, head)):
        for rule in plausibility.against(entity, which, answer):
            reason = _objection(graph, plausibility, rule, _Answer(entity, which, answer))
            reasons.setdefault(reason.words, reason)
    return list(reasons.values())


@dataclass(frozen=True)
class _Answer:
    """An answer of a query, by index; the relation may be an inverse."""

    entity: int
    relation: int
    answer: int


def _objection(graph: Graph, plausibility: Plausibility, rule: str, fact: _Answer) -> Reason:
    """Return a broken rule as a reason against a fact, with the facts that it rests on."""
    count = graph.manifest.relations
    name = graph.relation(fact.relation % count).label
    this, that = (graph.entity(index).label for index in (fact.entity, fact.answer))
    words = {
        "irreflexive": f"no entity has {name} to itself",
        "asymmetric": f"{name} never holds both ways, and it holds the other way round",
        "exclusive": f"{that} already has its one answer",
        "typed": f"{that} is of another type than all others at this end of {name}",
        "functional": f"{this} already has its one answer",
    }[rule]
    inverse = (fact.relation + count) % (2 * count)
    shown = {
        "asymmetric": (fact.answer, fact.relation),
        "exclusive": (fact.answer, inverse),
        "functional": (fact.entity, fact.relation),
    }
    paths = _stated(graph, plausibility, *shown[rule]) if rule in shown else ()
    return Reason("graph", words, 1.0, paths, against=True)


def _stated(
    graph: Graph, plausibility: Plausibility, entity: int, relation: int
) -> tuple[GraphPath, ...]:
    """Return a fact of the graph that answers a query, as a chain."""
    batch = QueryBatch(np.array([entity]), np.array([relation]))
    answers = plausibility.queries.known(batch)[1][:1].tolist()
    count = graph.manifest.relations
    facts = [
        Fact(entity, relation, end) if relation < count else Fact(end, relation - count, entity)
        for end in answers
    ]
    return tuple(graph.path_of(entity, [fact]) for fact in facts)
