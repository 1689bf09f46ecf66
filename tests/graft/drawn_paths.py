"""Knowledge of paths with random vectors of relations, and slow versions of its parts."""

import math

import numpy as np
import torch
from tests.graft.conftest import DrawnVectors

from kgraft.graft import AttentionSettings
from kgraft.graft.knowledge.paths import PathKnowledge
from kgraft.graft.knowledge.rules import RuleKnowledge

ALL_COUNT = AttentionSettings(size=8, heads=2, inner=16, score=5, threshold=None)


def drawn_relations(graph, size=6):
    drawn = torch.Generator().manual_seed(len(graph.relations))
    return torch.randn(2 * len(graph.relations), size, generator=drawn)


class DrawnPaths(PathKnowledge):
    """The paths of a graph; its entities and relations have random vectors."""

    def __init__(self, graph, vectors=None, **options):
        super().__init__(graph, vectors or DrawnVectors(graph), name="tiny", **options)

    def relation_vectors(self):
        return drawn_relations(self.graph)


class DrawnRules(RuleKnowledge):
    """The same with predicted facts."""

    def __init__(self, graph, facts):
        super().__init__(graph, DrawnVectors(graph), facts, name="tiny")

    def relation_vectors(self):
        return drawn_relations(self.graph)


def slow_paths(triples, relations, source, target, longest=3):
    """The relation sequences between two entities with the lowest cost of each, one by one.

    The cost is the product of 1 + the number of edges of the entities between the ends.
    """
    edges = {(h, r, t) for h, r, t in triples if h != t}
    edges |= {(t, r + relations, h) for h, r, t in edges}
    degree = {e: sum(edge[0] == e for edge in edges) for e in {edge[0] for edge in edges}}
    costs = {}

    def walk(entities, steps):
        if steps and entities[-1] == target:
            cost = math.prod(1 + degree[e] for e in entities[1:-1])
            costs[steps] = min(cost, costs.get(steps, cost))
        elif len(steps) < longest:
            for near, step, far in edges:
                if near == entities[-1] and far not in entities:
                    walk([*entities, far], (*steps, step))

    if source != target:
        walk([source], ())
    return costs


def sequences(index, paths, pair):
    """The sequences of a pair, as tuples of steps."""
    rows = index.codes.steps(paths.code[paths.pair == pair])
    return [tuple(step for step in row if step >= 0) for row in rows.tolist()]


def triples_of(graph):
    triples = graph.triples
    columns = (triples.head, triples.relation, triples.tail)
    return list(zip(*(np.asarray(c).tolist() for c in columns), strict=True))
