"""Filtered ranking of a graph's held-out triples by scores of all entities."""

from __future__ import annotations

from kgraft.embed.tables import EmbeddingTables
from kgraft.measure import SCORES, Queries, Ranking, rank
from kgraft.progress import Progress


def rank_queries(
    tables: EmbeddingTables,
    queries: Queries,
    known_queries: Queries,
    *,
    scores: int = SCORES,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the answers of all queries, leaving out other known ones (of all splits)."""
    entities = len(tables.entities)
    return rank(
        tables.score,
        queries,
        known_queries,
        entities=entities,
        scores=scores,
        progress=progress,
    )
