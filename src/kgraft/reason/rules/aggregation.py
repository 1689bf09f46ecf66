"""How the rules of an answer are put together, chosen on validation triples per relation."""

from __future__ import annotations

import numpy as np

from kgraft.graph import Graph
from kgraft.measure import Queries, rank
from kgraft.progress import Progress
from kgraft.reason.rules.clusters import cluster_rules
from kgraft.reason.rules.rule_set import RuleSet
from kgraft.reason.rules.rule_source import RuleSource
from kgraft.training import stream

TRIPLES = 5_000  # that are ranked, at most
LEAST = 10  # queries of a relation on which the choice is its own; else that of all relations


def choose_aggregation(
    graph: Graph, rules: RuleSet, *, seed: int = 0, progress: Progress | None = None
) -> RuleSource:
    """Return the source that ranks the validation triples best, relation by relation.

    Each relation (and each inverse) compares answers by their best rule, then the next, or adds up
    rules of different clusters. A graph without a valid split has the first throughout.
    """
    source = RuleSource(graph, rules)
    if graph.manifest.splits["valid"] in (0, graph.manifest.triples) or not len(rules):
        return source
    source = source.with_clusters(cluster_rules(rules, source.edges))
    queries = _valid_queries(graph, seed)
    everything = Queries.of(graph.whole().triples, len(graph.relations))
    size = 2 * len(graph.relations)
    gains, counts = np.zeros(size), np.zeros(size, np.int64)
    for sign, by_all in ((-1, False), (1, True)):
        tried = source.with_aggregation(np.full(size, by_all))
        ranking = rank(tried.score, queries, everything, entities=len(graph), progress=progress)
        gains += sign * np.bincount(ranking.relation, 1 / ranking.rank, minlength=size)
        counts += np.bincount(ranking.relation, minlength=size)
    own = counts >= 2 * LEAST
    return source.with_aggregation(np.where(own, gains > 0, gains.sum() > 0))


def _valid_queries(graph: Graph, seed: int) -> Queries:
    valid = graph.split("valid").triples
    if len(valid) > TRIPLES:
        chosen = stream(seed, 0).choice(len(valid), TRIPLES, replace=False)
        valid = valid.take(np.sort(chosen))
    return Queries.of(valid, len(graph.relations))
