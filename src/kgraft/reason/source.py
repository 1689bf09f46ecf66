"""`Source`: what completes a graph in its own way, by rules, paths, vectors or texts."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kgraft.measure import QueryBatch
from kgraft.reason.reasons import Reason


class Source(Protocol):
    """One way to rank the answers of queries, and to say why.

    A query is an entity with a relation r in 0…R−1, which asks for tails, or R + r, which asks for
    heads.
    """

    name: str
    is_probability: bool  # scores are between 0 and 1, 0 for what it says nothing of; else logits

    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the scores (B, N) of all entities as float32; higher is better.

        The array belongs to the caller, who may write over it.
        """

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int) -> list[Reason]:
        """Return why an answer may be right, the strongest reason first."""
