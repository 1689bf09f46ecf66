"""How the rules of an answer are put together, chosen on validation triples per relation."""

from __future__ import annotations

import numpy as np

from kgraft.graph import Graph
from kgraft.measure import Queries, rank
from kgraft.progress import Progress
from kgraft.reason.rules.clusters import cluster_rules
from kgraft.reason.rules.fire import BY_ALL, BY_BEST, BY_CLUSTER
from kgraft.reason.rules.rule_set import RuleSet
from kgraft.reason.rules.rule_source import RuleSource
from kgraft.training import stream

TRIPLES = 5_000  # that are ranked, at most
WAYS = (BY_BEST, BY_ALL, BY_CLUSTER)
LEAST = 10  # queries of a relation on which the choice is its own; else that of all relations


def choose_aggregation(
    graph: Graph, rules: RuleSet, *, seed: int = 0, progress: Progress | None = None
) -> RuleSource:
    """Return the source that ranks the validation triples best, relation by relation.

    Each relation (and each inverse) compares answers by their best rule, then the next, or adds up
    rules, or rules of different clusters. Without a valid split all have the first.
    """
    source = RuleSource(graph, rules)
    if graph.manifest.splits["valid"] in (0, graph.manifest.triples) or not len(rules):
        return source
    source = source.with_clusters(cluster_rules(rules, source.edges))
    queries = _valid_queries(graph, seed)
    size = 2 * len(graph.relations)
    counts = np.bincount(np.repeat(queries.relation, np.diff(queries.bounds)), minlength=size)
    sums = np.stack([_sums(source, how, queries, progress) for how in WAYS])  # (3, 2R)
    overall, own = np.argmax(sums.sum(1)), np.argmax(sums, axis=0)
    return source.with_aggregation(np.where(counts >= LEAST, own, overall).astype(np.int8))


def _sums(source: RuleSource, how: int, queries: Queries, progress: Progress | None) -> np.ndarray:
    """Return the sum of reciprocal ranks of each relation, (2R,), for one way to aggregate."""
    graph, size = source.graph, 2 * len(source.graph.relations)
    tried = source.with_aggregation(np.full(size, how, np.int8))
    everything = Queries.of(graph.whole().triples, len(graph.relations))
    ranking = rank(tried.score, queries, everything, entities=len(graph), progress=progress)
    return np.bincount(ranking.relation, 1 / ranking.rank, minlength=size)


def _valid_queries(graph: Graph, seed: int) -> Queries:
    valid = graph.split("valid").triples
    if len(valid) > TRIPLES:
        chosen = stream(seed, 0).choice(len(valid), TRIPLES, replace=False)
        valid = valid.take(np.sort(chosen))
    return Queries.of(valid, len(graph.relations))
