"""Filtered ranking of a graph's held-out triples, in chunks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kgraft.embed.queries import Queries
from kgraft.embed.tables import EmbeddingTables
from kgraft.measure.ranking import PROTOCOL, filtered_ranks, rank_figures
from kgraft.progress import Progress, Silent

SCORES = 1 << 22  # scores held at a time: 16 MB, near the processor
_MANY = 1.5  # neighbours a head or tail has on average before a relation counts as "N"
CATEGORIES = ("1-1", "1-N", "N-1", "N-N")


@dataclass(frozen=True)
class Ranking:
    """The rank of every answer of some queries, with the query it answers."""

    relation: np.ndarray  # (A,) or its inverse, R + r
    rank: np.ndarray  # (A,)
    relations: int
    protocol: str = PROTOCOL

    def figures(self) -> dict[str, float]:
        """Return MRR, Hits and mean rank over heads and tails."""
        return rank_figures(self.rank)

    def by_side(self) -> dict[str, dict[str, float]]:
        """Return the figures of tails and of heads apart."""
        back = self.relation >= self.relations
        return {"tails": rank_figures(self.rank[~back]), "heads": rank_figures(self.rank[back])}

    def by_relation(self) -> dict[int, dict[str, float]]:
        """Return the figures of each relation that occurs."""
        plain = self.relation % self.relations
        return {int(r): rank_figures(self.rank[plain == r]) for r in np.unique(plain)}

    def by_category(self, categories: np.ndarray) -> dict[str, dict[str, float]]:
        """Return the figures of 1-1, 1-N, N-1 and N-N relations (see `relation_categories`)."""
        kind = categories[self.relation % self.relations]
        found = {name: rank_figures(self.rank[kind == name]) for name in CATEGORIES}
        return {name: figures for name, figures in found.items() if figures}


def rank_queries(
    tables: EmbeddingTables,
    queries: Queries,
    known: Queries,
    *,
    scores: int = SCORES,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the answers of all queries, leaving out what is `known` (all splits of the graph)."""
    progress = progress or Silent()
    progress.start("rank", len(queries))
    ranks = []
    for numbers in query_chunks(len(queries), len(tables.entities), scores):
        ranks.append(_rank_chunk(tables, queries, known, numbers))
        progress.advance(len(numbers))
    count = np.diff(queries.bounds)
    rank = np.concatenate(ranks) if ranks else np.zeros(0)
    return Ranking(np.repeat(queries.relation, count), rank, queries.relations)


def query_chunks(queries: int, entities: int, scores: int) -> Iterator[np.ndarray]:
    """Cut the numbers of queries so that the scores of a chunk stay below `scores`."""
    step = max(scores // entities, 1)
    for first in range(0, queries, step):
        yield np.arange(first, min(first + step, queries))


@torch.no_grad()
def _rank_chunk(
    tables: EmbeddingTables, queries: Queries, known: Queries, numbers: np.ndarray
) -> np.ndarray:
    entity, relation = queries.entity[numbers], queries.relation[numbers]
    scores = tables.score_tails(torch.from_numpy(entity), torch.from_numpy(relation)).numpy()
    rows, answers = queries.answers(numbers)
    return filtered_ranks(scores, rows, answers, *known.known(entity, relation))


def relation_categories(queries: Queries) -> np.ndarray:
    """Return the category of each relation by its training triples: many tails, many heads?

    A relation is 1-N if a head has more than 1.5 tails on average and a tail no more heads.
    """
    tails, heads = np.split(queries.mean_answers() > _MANY, 2)
    return np.array(CATEGORIES)[tails + 2 * heads]
