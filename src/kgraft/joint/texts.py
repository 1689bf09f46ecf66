"""Linked texts: windows of tokens with mentions, each of one entity, taken batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import torch
from torch import Tensor

from kgraft.corpus import AnnotatedTexts
from kgraft.text import TokenSpans, Windows


@dataclass(frozen=True)
class LinkedBatch:
    """Windows that are read together, and their mentions one after the other."""

    ids: Tensor  # (B, L)
    mask: Tensor  # (B, L) bool
    row: Tensor  # (S,) window of each mention
    first: Tensor  # (S,) column where it begins
    last: Tensor  # (S,) and ends, exclusive
    entity: Tensor  # (S,)

    def known(self, vectors: Tensor, shown: Tensor | None = None) -> Tensor:
        """Put the vectors of mentions (S, F) at their tokens, (B, L, F); zeros elsewhere.

        Those that are not `shown`, (S,) bool, get none.
        """
        count = self.last - self.first if shown is None else (self.last - self.first) * shown
        mention = torch.arange(len(count), device=count.device).repeat_interleave(count)
        before = (count.cumsum(0) - count)[mention]
        column = self.first[mention] + torch.arange(len(mention), device=count.device) - before
        known = vectors.new_zeros(*self.ids.shape, vectors.shape[-1])
        return known.index_put((self.row[mention], column), vectors[mention])

    def ends(self, read: Tensor) -> Tensor:
        """Return (Z_start + Z_end) / 2 of each mention, of what was read (B, L, F)."""
        return (read[self.row, self.first] + read[self.row, self.last - 1]) / 2


@dataclass(frozen=True)
class LinkedWindows(Windows):
    """Windows that know which entities they mention."""

    places: TokenSpans  # (S,) by window
    entity: np.ndarray  # (S,)

    @classmethod
    def of(cls, windows: Windows, data: AnnotatedTexts) -> Self:
        """Put mentions into the windows of their texts.

        Those of unknown entities, in no window, or within reach of an earlier one are left out.
        """
        places = windows.locate(data.mentions.text, data.mentions.start, data.mentions.end)
        order = np.lexsort((places.last, places.first, places.window))
        order = order[(places.window[order] >= 0) & (data.gold[order] >= 0)]
        order = order[_disjoint(places.select(order))]
        held = {f.name: getattr(windows, f.name) for f in fields(Windows)}
        return cls(**held, places=places.select(order), entity=data.gold[order])

    def batch(self, numbers: np.ndarray) -> LinkedBatch:
        """Return some windows with their mentions."""
        row, span = self.places.rows_in(numbers)
        columns = (row, self.places.first[span], self.places.last[span], self.entity[span])
        ids, mask = self.padded(numbers)
        return LinkedBatch(*map(torch.from_numpy, (ids, mask, *columns)))


def _disjoint(places: TokenSpans) -> np.ndarray:
    """Return which of the places, in their order, no earlier one that is kept overlaps."""
    kept, window, end = np.zeros(len(places.window), bool), -1, 0
    columns = zip(*(column.tolist() for column in places), strict=True)
    for number, (of, first, last) in enumerate(columns):
        if of != window or first >= end:
            kept[number], window, end = True, of, last
    return kept
