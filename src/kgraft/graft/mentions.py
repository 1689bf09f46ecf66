"""Mentions: the spans of a batch of windows that may mean entities, and their candidates."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor

NONE = -1  # padding among candidates
MASK = -2  # a candidate of which the model may not see what it is
UNKNOWN = -1  # which candidate is right is not known
NIL = -2  # no candidate is right


@dataclass(frozen=True)
class Mentions:
    """The mentions of B windows, M each at most, with at most K candidates; padded.

    `Noticed.batch` makes them, of what a knowledge finds in texts.
    """

    first: Tensor  # (B, M) int64, the column where the span begins
    last: Tensor  # (B, M) int64, where it ends, exclusive; `first` where padded
    entity: Tensor  # (B, M, K) int64, or NONE or MASK
    prior: Tensor  # (B, M, K) float32, p(entity | surface)
    gold: Tensor | None = None  # (B, M) int64, the place of the right candidate, UNKNOWN or NIL

    @property
    def known(self) -> Tensor:
        """The place of the right candidate, UNKNOWN where that is not told, (B, M)."""
        return torch.full_like(self.first, UNKNOWN) if self.gold is None else self.gold

    @property
    def there(self) -> Tensor:
        """Which spans are no padding, (B, M)."""
        return self.last > self.first

    @property
    def offered(self) -> Tensor:
        """Which candidates are no padding, (B, M, K)."""
        return self.entity != NONE

    def held(self, length: int) -> Tensor:
        """Return which of the first columns each span holds, (B, L, M)."""
        column = torch.arange(length, device=self.first.device)[None, :, None]
        return (column >= self.first[:, None]) & (column < self.last[:, None])

    def to(self, device: torch.device | str) -> Self:
        """Return the mentions on a device."""
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{n: t.to(device) for n, t in held.items() if t is not None})

    def touching(self, hidden: Tensor) -> Tensor:
        """Return which spans overlap a hidden piece, (B, L) to (B, M)."""
        before = torch.nn.functional.pad(hidden.long().cumsum(1), (1, 0))  # (B, L + 1)
        return before.gather(1, self.last) > before.gather(1, self.first)

    def told(self) -> Self:
        """Tell what spans mean that are known: their right candidate alone is left."""
        place = torch.arange(self.entity.shape[-1], device=self.entity.device)
        gold = self.known[:, :, None]
        lost = (gold >= 0) & (place != gold)
        prior = self.prior.masked_fill(lost, 0.0).masked_fill(place == gold, 1.0)
        return replace(self, entity=self.entity.masked_fill(lost, NONE), prior=prior)

    def silent(self, hidden: Tensor, *, told: bool = False) -> Self:
        """Hide all candidates of the spans that overlap a hidden piece, (B, L) bool.

        With `told`, those stay whose entity is known.
        """
        lost = self.offered & self._to_hide(hidden, told=told)[:, :, None]
        return replace(self, entity=self.entity.masked_fill(lost, MASK))

    def _to_hide(self, hidden: Tensor, *, told: bool) -> Tensor:
        touched = self.touching(hidden)
        return touched & (self.known < 0) if told else touched

    def masked(
        self,
        hidden: Tensor,
        generator: torch.Generator,
        entities: int,
        *,
        told: bool = False,
    ) -> Self:
        """Hide candidates of the spans that overlap a hidden piece, (B, L) bool.

        So that they do not give away the piece: for 80 % of the spans all candidates become MASK,
        for 10 % they become random ones of `entities`, for 10 % they stay. With `told`, those
        stay whose entity is known.
        """
        touched = self._to_hide(hidden, told=told)
        draw = torch.rand(touched.shape, generator=generator)
        other = torch.randint(max(entities, 1), self.entity.shape, generator=generator)
        offered = self.offered & touched[:, :, None]
        entity = self.entity.masked_fill(offered & (draw < 0.8)[:, :, None], MASK)
        entity = torch.where(offered & (draw >= 0.9)[:, :, None], other, entity)
        return replace(self, entity=entity)


@dataclass(frozen=True)
class Looked:
    """What a graft looked at in a batch."""

    scores: Tensor  # (B, M, K) ψ, -inf where there is no candidate
    weights: Tensor  # (B, M, K) how much of each candidate was mixed in; zeros for none of them
    attention: Tensor  # (B, L, M) how much each word took from each span
    known: Tensor  # (B, M, E) each span with what was mixed in

    def cpu(self) -> Looked:
        """Return the same on the CPU."""
        return Looked(*(getattr(self, f.name).cpu() for f in fields(self)))

    @property
    def chosen(self) -> Tensor:
        """The place of the candidate that weighs most, -1 where none does, (B, M)."""
        best = self.weights.argmax(-1)
        return best.masked_fill((self.weights == 0).all(-1), -1)
