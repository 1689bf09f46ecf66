"""Filtered ranking of a graph's held-out triples by scores of all entities."""

from __future__ import annotations

from kgraft.embed.tables import EmbeddingTables
from kgraft.measure import Queries, Ranking, rank
from kgraft.measure.ranking import SCORES
from kgraft.progress import Progress


def rank_queries(
    tables: EmbeddingTables,
    queries: Queries,
    known: Queries,
    *,
    scores: int = SCORES,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the answers of all queries, leaving out what is `known` (all splits of the graph)."""
    entities = len(tables.entities)
    return rank(tables.score, queries, known, entities=entities, scores=scores, progress=progress)
