"""Mention batches: the mentions of a batch of windows with their candidates, as padded tensors."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from kgraft.arrays import expand
from kgraft.graph import UNKNOWN, Mentions
from kgraft.text.windows import TokenSpans

PADDING = -1  # in place of an entity: there is no candidate
MASKED = -2  # in place of an entity: a candidate that the model may not see
NIL = -3  # in place of the gold entity or its rank: none of the candidates is right


@dataclass(frozen=True)
class MentionBatch:
    """The mentions of B windows, at most M each, with at most K candidates each; padded.

    Grafts read all candidates. A model that needs one entity per mention reads the first one, and
    works on the S mentions that are `present`, in order of the window.
    """

    first: Tensor  # (B, M) int64, the column where the span begins
    last: Tensor  # (B, M) int64, where it ends, exclusive; `first` where padded
    entity: Tensor  # (B, M, K) int64, or PADDING or MASKED
    prior: Tensor  # (B, M, K) float32, p(entity | surface)
    gold: Tensor | None = None  # (B, M) int64, the rank of the right candidate, UNKNOWN or NIL

    @classmethod
    def of(cls, mentions: Mentions, spans: TokenSpans, windows: np.ndarray) -> Self:
        """Return the mentions of some windows; mentions and spans are in order of the window.

        A mention whose gold entity is not among its candidates has the rank UNKNOWN.
        """
        row, mention = spans.rows_in(windows)
        column = np.arange(len(row)) - np.searchsorted(row, row)
        shape = (len(windows), int(column.max(initial=-1)) + 1)
        cells = (row, column)
        entity, prior = _padded_candidates(mentions, mention, cells, shape)
        gold = np.full(len(mention), UNKNOWN) if mentions.gold is None else mentions.gold[mention]
        columns = (
            _padded(spans.first[mention], cells, shape, 0),
            _padded(spans.last[mention], cells, shape, 0),
            entity,
            prior,
            _ranks_of(_padded(gold, cells, shape, UNKNOWN), entity),
        )
        return cls(*map(torch.from_numpy, columns))

    @property
    def gold_rank(self) -> Tensor:
        """The rank of the right candidate, UNKNOWN where there is no `gold`, (B, M)."""
        return torch.full_like(self.first, UNKNOWN) if self.gold is None else self.gold

    @property
    def present(self) -> Tensor:
        """Which spans are not padding, (B, M)."""
        return self.last > self.first

    @property
    def is_candidate(self) -> Tensor:
        """Which candidates are not padding, (B, M, K)."""
        return self.entity != PADDING

    @property
    def window(self) -> Tensor:
        """The row in the batch of each mention that is present, (S,)."""
        return self.present.nonzero()[:, 0]

    @property
    def first_entity(self) -> Tensor:
        """The first candidate of each mention that is present, (S,)."""
        return self.entity[self.present][:, 0]

    def to(self, device: torch.device | str) -> Self:
        """Return the mentions on a device."""
        tensors = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{n: t.to(device) for n, t in tensors.items() if t is not None})

    # Vectors of mentions and of tokens

    def covers(self, length: int) -> Tensor:
        """Return which of the first `length` columns each span covers, (B, L, M)."""
        column = torch.arange(length, device=self.first.device)[None, :, None]
        return (column >= self.first[:, None]) & (column < self.last[:, None])

    def spread(self, vectors: Tensor, length: int, shown: Tensor | None = None) -> Tensor:
        """Put the vectors of mentions (S, F) at their tokens, (B, L, F); zeros elsewhere.

        Mentions may not overlap. Those that are not `shown`, (S,) bool, get none.
        """
        first, last = self.first[self.present], self.last[self.present]
        count = last - first if shown is None else (last - first) * shown
        mention = torch.arange(len(count), device=count.device).repeat_interleave(count)
        before = (count.cumsum(0) - count)[mention]
        column = first[mention] + torch.arange(len(mention), device=count.device) - before
        spread = vectors.new_zeros(len(self.first), length, vectors.shape[-1])
        return spread.index_put((self.window[mention], column), vectors[mention])

    def end_means(self, read: Tensor) -> Tensor:
        """Return (Z_start + Z_end) / 2 of each mention, of what was read: (B, L, F) to (S, F)."""
        window, present = self.window, self.present
        first, last = self.first[present], self.last[present] - 1
        return (read[window, first] + read[window, last]) / 2

    # What the model may see

    def touches(self, hidden: Tensor) -> Tensor:
        """Return which spans overlap a hidden token, (B, L) to (B, M)."""
        before = torch.nn.functional.pad(hidden.long().cumsum(1), (1, 0))  # (B, L + 1)
        return before.gather(1, self.last) > before.gather(1, self.first)

    def gold_only(self) -> Self:
        """Leave only the right candidate of each mention where that is known."""
        rank = torch.arange(self.entity.shape[-1], device=self.entity.device)
        gold = self.gold_rank[:, :, None]
        wrong = (gold >= 0) & (rank != gold)
        prior = self.prior.masked_fill(wrong, 0.0).masked_fill(rank == gold, 1.0)
        return replace(self, entity=self.entity.masked_fill(wrong, PADDING), prior=prior)

    def mask_candidates(self, hidden: Tensor, *, keep_gold: bool = False) -> Self:
        """Mask all candidates of the spans that overlap a hidden token, (B, L) bool.

        With `keep_gold`, the spans whose entity is known keep theirs.
        """
        masked = self.is_candidate & self._to_mask(hidden, keep_gold)[:, :, None]
        return replace(self, entity=self.entity.masked_fill(masked, MASKED))

    def mask_randomly(
        self,
        hidden: Tensor,
        generator: torch.Generator,
        entities: int,
        *,
        keep_gold: bool = False,
    ) -> Self:
        """Mask candidates of the spans that overlap a hidden token, as tokens are masked.

        So that they do not give away the token: for 80 % of the spans all candidates are masked,
        for 10 % they become random ones of `entities`, for 10 % they stay. With `keep_gold`, the
        spans whose entity is known keep theirs.
        """
        touched = self._to_mask(hidden, keep_gold)
        draw = torch.rand(touched.shape, generator=generator)
        other = torch.randint(max(entities, 1), self.entity.shape, generator=generator)
        touched = self.is_candidate & touched[:, :, None]
        entity = self.entity.masked_fill(touched & (draw < 0.8)[:, :, None], MASKED)
        entity = torch.where(touched & (draw >= 0.9)[:, :, None], other, entity)
        return replace(self, entity=entity)

    def _to_mask(self, hidden: Tensor, keep_gold: bool) -> Tensor:
        touched = self.touches(hidden)
        return touched & (self.gold_rank < 0) if keep_gold else touched


def _padded(
    values: np.ndarray, cells: tuple[np.ndarray, ...], shape: tuple[int, ...], fill: float
) -> np.ndarray:
    """Return an array of a shape with values in some cells."""
    padded = np.full(shape, fill, values.dtype)
    padded[cells] = values
    return padded


def _padded_candidates(
    mentions: Mentions,
    mention: np.ndarray,
    cells: tuple[np.ndarray, np.ndarray],
    shape: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return entities and priors of the candidates of some mentions, (B, M, K)."""
    first = mentions.bounds[mention]
    owner, candidate = expand(first, mentions.bounds[mention + 1])
    rank = candidate - first[owner]
    wide = (*shape, int(rank.max(initial=0)) + 1)
    places = (*(column[owner] for column in cells), rank)
    entity = _padded(mentions.entity[candidate].astype(np.int64), places, wide, PADDING)
    return entity, _padded(mentions.prior[candidate], places, wide, 0.0)


def _ranks_of(gold: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Return the rank of the gold entities (B, M) among the candidates (B, M, K)."""
    same = (entity == gold[:, :, None]) & (gold >= 0)[:, :, None]
    rank = np.where(same.any(-1), same.argmax(-1), UNKNOWN)
    return np.where(gold == NIL, NIL, rank)
