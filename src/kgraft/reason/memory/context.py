"""The context of a text: which entities it may be about, and how likely each of them is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.arrays import run_starts
from kgraft.graph import Mentions
from kgraft.reason.memory.settings import RecallSettings

_LEAST = 1e-6  # probability, so that its logarithm is finite


@dataclass(frozen=True)
class Context:
    """Entities, ascending, with what each adds to the scores of its slots."""

    entity: np.ndarray  # (E,) int64
    bonus: np.ndarray  # (E,) float32, at most 0

    @classmethod
    def of_entities(cls, entities: np.ndarray) -> Context:
        """Return the context of entities that are sure."""
        distinct = np.unique(entities).astype(np.int64)
        return cls(distinct, np.zeros(len(distinct), np.float32))

    @classmethod
    def of_mentions(cls, mentions: Mentions, settings: RecallSettings) -> Context:
        """Return the likeliest candidates of the mentions of one text.

        The bonus is `prior` · log p(entity | mention), less `nested` for a mention inside another;
        p is the linker's score, or the prior where nothing was linked. The best mention counts.
        """
        likely = mentions.keep_candidates(mentions.rank < settings.candidates)
        p = likely.score if likely.score.any() else likely.prior
        bonus = settings.prior * np.log(np.maximum(p, _LEAST))
        bonus -= settings.nested * _nested(likely)[likely.owner]
        order = np.lexsort((-bonus, likely.entity))
        first = order[run_starts(likely.entity[order])] if len(order) else order
        return cls(likely.entity[first], bonus[first].astype(np.float32))

    def bonus_of(self, entities: np.ndarray) -> np.ndarray:
        """Return the bonus of entities of the context, (n,)."""
        return self.bonus[np.searchsorted(self.entity, entities)]


def _nested(mentions: Mentions) -> np.ndarray:
    """Return which mentions of one text lie inside a longer one, (M,)."""
    start, end = mentions.start, mentions.end
    inside = (start[:, None] >= start) & (end[:, None] <= end)  # (M, M)
    longer = (end - start)[:, None] < end - start
    return (inside & longer).any(axis=1)
