"""`RuleSource`: rules as a source of answers and of reasons."""

from __future__ import annotations

import os
from copy import copy
from functools import cached_property, partial

import numpy as np

from kgraft.graph import Fact, Graph
from kgraft.measure import QueryBatch
from kgraft.reason.kernels import in_shares
from kgraft.reason.reasons import Reason
from kgraft.reason.rules.edges import Edges, make_edges
from kgraft.reason.rules.fire import BY_BEST, fired_rules, score_queries
from kgraft.reason.rules.groundings import ground
from kgraft.reason.rules.index import RuleIndex, make_index
from kgraft.reason.rules.rule_set import RuleSet
from kgraft.reason.rules.text import rule_figures, verbalise_rule

WIDTH = 16  # rules per answer that are looked at
SHARES_PER_CORE = 4


class RuleSource:
    """Ranks what the rules of a relation give.

    `aggregation` (2R,) says for each relation how the rules of an answer are put together:
    `BY_BEST` compares answers by their best rule, then the next best, and so on; `BY_ALL` adds up
    the best rules, `BY_CLUSTER` one per cluster of rules that explain the same.
    """

    name = "rules"
    is_probability = True

    def __init__(
        self,
        graph: Graph,
        rules: RuleSet,
        *,
        aggregation: np.ndarray | None = None,
        cluster: np.ndarray | None = None,
    ) -> None:
        self.graph, self.rules = graph, rules
        by_best = np.full(2 * len(graph.relations), BY_BEST, np.int8)
        self.aggregation = by_best if aggregation is None else aggregation
        self.cluster = np.arange(len(rules)) if cluster is None else cluster

    def __repr__(self) -> str:
        return f"<RuleSource of {self.graph.manifest.name}: {len(self.rules):,} rules>"

    def with_aggregation(self, aggregation: np.ndarray) -> RuleSource:
        """Return the source with another choice per relation; the index of rules is shared."""
        other = copy(self)
        other.aggregation = aggregation
        return other

    def with_clusters(self, cluster: np.ndarray) -> RuleSource:
        """Return the source with clusters of rules."""
        other = RuleSource(self.graph, self.rules, aggregation=self.aggregation, cluster=cluster)
        other.__dict__["edges"] = self.edges
        return other

    @cached_property
    def edges(self) -> Edges:
        """The facts of the train split."""
        graph = self.graph
        return make_edges(graph.split("train").triples, len(graph), len(graph.relations))

    @cached_property
    def index(self) -> RuleIndex:
        """The rules in the orders of look-up."""
        return make_index(self.rules, self.edges, self.cluster)

    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the scores (B, N) of all entities: 0 where no rule fires, else up to 1."""
        scores = np.zeros((len(batch), len(self.graph)), np.float32)
        edges, index = self.edges, self.index

        def score(begin: int, end: int) -> None:
            score_queries(
                edges,
                index,
                batch.entity[begin:end].astype(np.int64),
                batch.relation[begin:end].astype(np.int64),
                self.aggregation,
                WIDTH,
                scores[begin:end],
            )

        in_shares(score, len(batch), shares=SHARES_PER_CORE * (os.cpu_count() or 1))
        return scores

    def rules_for(
        self, entity: int, relation: int, answer: int, *, limit: int = 10
    ) -> list[tuple[int, list[Fact], int]]:
        """Return the rules that give an answer, the best first: row, facts, and where they begin.

        Rules without a body come last.
        """
        if entity == answer:  # different terms mean different entities
            return []
        rows = fired_rules(self.edges, self.index, entity, relation, answer, limit)
        grounded = []
        for row in rows.tolist():
            chain = ground(self.rules, row, self.edges, entity, relation, answer)
            if chain is not None:
                grounded.append((row, chain[1], chain[0]))
        return grounded

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int = 10) -> list[Reason]:
        """Return the rules that give an answer, the best first, each with one grounding."""
        reasons = []
        for row, facts, start in self.rules_for(entity, relation, answer, limit=limit):
            words = f"{self.verbalise(row)}  ({rule_figures(self.rules, row)})"
            path = (self.graph.path_of(start, facts),) if facts else ()
            reasons.append(Reason(self.name, words, float(self.rules.confidence[row]), path))
        return reasons

    def verbalise(self, row: int) -> str:
        """Say a rule in words."""
        label = partial(_label, self.graph)
        return verbalise_rule(self.rules, row, self.graph.all_relations, label)


def _label(graph: Graph, index: int) -> str:
    return graph.entities_at([index])[0].label
