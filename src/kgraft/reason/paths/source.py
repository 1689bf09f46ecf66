"""`PathSource`: a reasoner at work on one graph."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Fact, Graph
from kgraft.measure import QueryBatch
from kgraft.reason.paths.balls import MOST
from kgraft.reason.paths.explain import find_paths
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.reasoner import AskedFacts, Reasoner
from kgraft.reason.reasons import Reason

AT_ONCE = 8  # queries whose balls are worked on together
RELATIONS = 4096  # whose vectors, and scores by ends, are kept
SIMILAR = 3  # facts with the same answer that are shown where no path leads to it


class PathSource:
    """Scores by the paths of a graph's training facts; what concerns a relation is kept.

    It may be used from several threads at once.
    """

    name = "paths"
    is_probability = False

    def __init__(self, graph: Graph, reasoner: Reasoner, *, most: int = MOST) -> None:
        self.graph, self.reasoner, self.most = graph, reasoner, most
        triples = graph.split("train").triples
        size = graph.manifest
        self.paths = PathGraph.of_arrays(triples, size.entities, size.relations)
        self._of_relation = lru_cache(RELATIONS)(self._read_relation)

    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the scores (B, N) of all entities."""
        scores = [np.zeros((0, self.paths.entities), np.float32)]
        for first in range(0, len(batch), AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            scores.append(self._score(AskedFacts(batch.entity[rows], batch.relation[rows])))
        return np.concatenate(scores)

    def forget(self) -> None:
        """Drop what is kept of relations, as after training the reasoner further."""
        self._of_relation.cache_clear()

    @torch.no_grad()
    def _score(self, asked: AskedFacts) -> np.ndarray:
        parts = [self._of_relation(int(relation)) for relation in asked.relation]
        vectors = torch.stack([part[0] for part in parts])
        relation = torch.from_numpy(asked.relation).long()
        query = vectors[torch.arange(len(asked)), relation]
        ends = torch.stack([part[1] for part in parts])
        scores: np.ndarray = self.reasoner.add_paths(
            self.paths, asked, vectors, query, ends, most=self.most
        ).numpy()
        return scores

    @torch.no_grad()
    def _read_relation(self, relation: int) -> tuple[Tensor, Tensor]:
        """Return the vectors (2R, D) that a query sees, and the scores of all ends, (N,)."""
        direct = torch.tensor([relation % self.paths.relations])
        vectors = self.reasoner.relation_vectors(self.paths, direct)
        which = torch.tensor([relation])
        row = torch.zeros(1, dtype=torch.int64)
        ends = self.reasoner.end_scores(self.paths, vectors, row, which)
        return vectors[0], ends[0]

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int) -> list[Reason]:
        """Return the paths that lead to an answer; where there is none, facts with this answer."""
        paths = find_paths(
            self.reasoner, self.paths, entity, relation, answer, limit=limit, most=self.most
        )
        if not paths:
            return self._similar_facts(entity, relation, answer)
        weights = np.exp([path.importance - paths[0].importance for path in paths])
        reasons = []
        for path, weight in zip(paths, weights / weights.sum(), strict=True):
            chain = self.graph.path_of(entity, path.facts)
            reasons.append(Reason(self.name, chain.verbalise(), float(weight), (chain,)))
        return reasons

    def _similar_facts(self, entity: int, relation: int, answer: int) -> list[Reason]:
        """Return that the answer is the answer for other entities, too."""
        edges, count = self.paths.edges, self.paths.relations
        inverse = (relation + count) % (2 * count)
        own = slice(edges.bounds[answer], edges.bounds[answer + 1])
        others = edges.neighbour[own][edges.relation[own] == inverse]
        others = others[others != entity]
        if not len(others):
            return []
        direct = relation < count
        facts = [
            Fact(other, relation, answer) if direct else Fact(answer, relation - count, other)
            for other in others[:SIMILAR].tolist()
        ]
        chains = tuple(self.graph.path_of(answer, [fact]) for fact in facts)
        label = self.graph.entity(answer).label
        words = f"{label} is the answer for {len(others):,} other entities"
        return [Reason(self.name, words, 1.0, chains)]
