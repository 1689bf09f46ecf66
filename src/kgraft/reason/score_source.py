"""`ScoreSource`: any function that scores answers, such as trained vectors, as a source."""

from __future__ import annotations

import numpy as np

from kgraft.measure import QueryBatch, Score
from kgraft.reason.reasons import Reason


class ScoreSource:
    """Scores by a function; its reason is the rank that it gives an answer."""

    is_probability = False

    def __init__(self, name: str, score: Score) -> None:
        self.name, self.score = name, score

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int) -> list[Reason]:
        """Return the rank of an answer among all entities."""
        scores = self.score(QueryBatch(np.array([entity]), np.array([relation])))[0]
        rank = 1 + int((scores > scores[answer]).sum())
        words = f"rank {rank:,} of {len(scores):,} entities by {self.name}"
        return [Reason(self.name, words, 1.0 / rank)][:limit]
