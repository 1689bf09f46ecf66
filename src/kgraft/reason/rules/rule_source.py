"""`RuleSource`: rules as a source of answers and of reasons."""

from __future__ import annotations

import os
from functools import cached_property

import numpy as np

from kgraft.graph import Graph
from kgraft.measure import QueryBatch
from kgraft.reason.kernels import in_shares
from kgraft.reason.rules.edges import Edges, make_edges
from kgraft.reason.rules.fire import score_queries
from kgraft.reason.rules.index import RuleIndex, make_index
from kgraft.reason.rules.rule_set import RuleSet

WIDTH = 16  # rules per answer that are looked at
SHARES_PER_CORE = 4


class RuleSource:
    """Ranks what the rules of a relation give.

    By default answers are compared by their best rule, then the next best, and so on. Relations in
    `by_all` (2R,) add up the rules of an answer, one per cluster of rules that explain the same.
    """

    name = "rules"

    def __init__(
        self,
        graph: Graph,
        rules: RuleSet,
        *,
        by_all: np.ndarray | None = None,
        cluster: np.ndarray | None = None,
    ) -> None:
        self.graph, self.rules = graph, rules
        self.by_all = np.zeros(2 * len(graph.relations), bool) if by_all is None else by_all
        self.cluster = np.arange(len(rules)) if cluster is None else cluster

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

        def score(begin: int, end: int) -> None:
            score_queries(
                self.edges,
                self.index,
                batch.entity[begin:end].astype(np.int64),
                batch.relation[begin:end].astype(np.int64),
                self.by_all,
                WIDTH,
                scores[begin:end],
            )

        in_shares(score, len(batch), shares=SHARES_PER_CORE * (os.cpu_count() or 1))
        return scores
