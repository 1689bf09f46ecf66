"""Pairs of candidates that a text mentions side by side."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from kgraft.arrays import expand
from kgraft.text import MentionBatch

LIKELIEST = 4  # candidates of a mention
NEAREST = 8  # mentions on either side


class CandidatePairs(NamedTuple):
    """Candidates (rows of the flat B · M · K), each with one of another mention of its window.

    Both directions of a pair are there. Mentions that overlap make no pairs, nor does an entity
    with itself.
    """

    row: np.ndarray  # (P,)
    other: np.ndarray  # (P,)
    entity: np.ndarray  # (P,)
    other_entity: np.ndarray  # (P,)
    prior: np.ndarray  # (P,) of the other

    @classmethod
    def of(cls, mentions: MentionBatch) -> Self:
        """Pair the likeliest candidates of each mention with those of the nearest mentions."""
        entity, prior = (c.detach().cpu().numpy() for c in (mentions.entity, mentions.prior))
        row = np.flatnonzero(_is_likely(entity, prior))
        one, other = _neighbours(row // entity.shape[2], entity.shape[1])
        one, other = row[one], row[other]
        entity, prior = entity.ravel(), prior.ravel()
        kept = (entity[one] != entity[other]) & _are_apart(mentions, one, other)
        one, other = one[kept], other[kept]
        row, other = np.concatenate([one, other]), np.concatenate([other, one])
        return cls(row, other, entity[row], entity[other], prior[other])


def _is_likely(entity: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return which candidates are entities, and among the likeliest of their mention, (B, M, K)."""
    order = np.argsort(np.where(entity >= 0, -prior, np.inf), axis=-1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(order.shape[-1])[None, None], axis=-1)
    likely: np.ndarray = (entity >= 0) & (rank < LIKELIEST)
    return likely


def _neighbours(mention: np.ndarray, per_window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows whose mentions, in order, follow one another nearly in one window."""
    window_end = (mention // max(per_window, 1) + 1) * per_window
    last = np.minimum(mention + NEAREST + 1, window_end)
    return expand(np.searchsorted(mention, mention + 1), np.searchsorted(mention, last))


def _are_apart(mentions: MentionBatch, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return for which pairs of candidates the mentions do not overlap."""
    per_mention = mentions.entity.shape[2]
    first, last = (side.cpu().numpy().ravel() for side in (mentions.first, mentions.last))
    one, other = one // per_mention, other // per_mention
    apart: np.ndarray = (last[one] <= first[other]) | (last[other] <= first[one])
    return apart
