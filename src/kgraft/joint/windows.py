"""Windows of texts with the gold mentions in them, and batches of both."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Match, Mentions
from kgraft.text import MentionBatch, TokenSpans, Windows, token_spans


class TextBatch(NamedTuple):
    """Windows that are read together, and the mentions in them."""

    ids: Tensor  # (B, L)
    mask: Tensor  # (B, L) bool
    mentions: MentionBatch


@dataclass(frozen=True)
class GoldWindows(Windows):
    """Windows with the mentions whose entity is known; no two of them overlap."""

    mentions: Mentions  # in order of the window; the gold entity is the only candidate
    spans: TokenSpans

    @classmethod
    def of(cls, windows: Windows, data: AnnotatedTexts) -> Self:
        """Lay annotated mentions on the windows of their texts.

        Those of unknown entities, in no window, or that overlap an earlier one are left out.
        """
        spans, rows = token_spans(data.mentions, windows)
        has_gold = data.gold[rows] >= 0
        spans, rows = spans.select(has_gold), rows[has_gold]
        is_free = _without_overlap(spans)
        columns = {field.name: getattr(windows, field.name) for field in fields(Windows)}
        return cls(
            **columns, mentions=_gold_mentions(data, rows[is_free]), spans=spans.select(is_free)
        )

    def batch(self, indices: np.ndarray) -> TextBatch:
        """Return some windows with their mentions."""
        ids, mask = map(torch.from_numpy, self.padded(indices))
        return TextBatch(ids, mask, MentionBatch.of(self.mentions, self.spans, indices))


def _gold_mentions(data: AnnotatedTexts, rows: np.ndarray) -> Mentions:
    """Return some mentions with their gold entity as the only candidate."""
    text, start, end = data.mentions.text, data.mentions.start, data.mentions.end
    mentions = Mentions.without_candidates(text[rows], start[rows], end[rows])
    certain = np.ones(len(rows), np.float32)
    pinned = np.full(len(rows), Match.PINNED, np.uint8)
    candidates = (data.gold[rows], certain, pinned, np.zeros_like(pinned), certain)
    return mentions.with_candidates(np.arange(len(rows)), candidates)


def _without_overlap(spans: TokenSpans) -> np.ndarray:
    """Return which spans, in their order, overlap none that was kept before."""
    is_free, window, end = np.zeros(len(spans.window), bool), -1, 0
    columns = zip(*(column.tolist() for column in spans), strict=True)
    for row, (own_window, first, last) in enumerate(columns):
        if own_window != window or first >= end:
            is_free[row], window, end = True, own_window, last
    return is_free
