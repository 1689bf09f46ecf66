"""Mentions: the spans of texts that may refer to entities, with their candidates.

This is the one table that name matching fills, a linker scores, and evaluation compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from kgraft.arrays import expand, run_starts

UNKNOWN = -1  # gold of a mention of an entity that the graph lacks
IGNORED = -2  # gold of a span that is neither right nor wrong to link


class Match(IntEnum):
    """How a candidate was found; a span has candidates of its surest kind only."""

    PINNED = 0  # the user says so
    ABBREVIATION = 1  # defined in the text: "Wilson disease (WD)"
    NAME = 2  # the span is a name of the entity
    VARIANT = 3  # the words of a name, inflected or reordered
    REWORDED = 4  # a name with a word exchanged, as other names of the graph exchange it
    SHORTENED = 5  # a name without a word that other names of the graph leave out
    PARTIAL = 6  # a part of a name, with a word that few names hold
    NEIGHBOUR = 7  # near to the span in meaning


@dataclass(frozen=True)
class Mentions:
    """M mentions in order of text, start and end, with C candidates in all, best first."""

    text: np.ndarray  # (M,) int64, index of the text
    start: np.ndarray  # (M,) int64, characters of that text
    end: np.ndarray  # (M,) int64, exclusive
    bounds: np.ndarray  # (M + 1,) int64: mention m has the candidates bounds[m]:bounds[m + 1]
    entity: np.ndarray  # (C,) int64
    prior: np.ndarray  # (C,) float32, p(entity | surface)
    match: np.ndarray  # (C,) uint8, see `Match`
    forms: np.ndarray  # (C,) uint8, how the name is written, see `alias_build.Form`
    score: np.ndarray  # (C,) float32, the probability that the mention refers to the entity
    gold: np.ndarray | None = field(default=None, kw_only=True)  # (M,) int64, or UNKNOWN, IGNORED

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of candidates of each mention, (M,)."""
        return np.diff(self.bounds)

    @cached_property
    def owner(self) -> np.ndarray:
        """The mention of each candidate, (C,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def rank(self) -> np.ndarray:
        """The rank of each candidate among those of its mention, from 0, (C,)."""
        return np.arange(len(self.entity)) - np.repeat(self.bounds[:-1], self.sizes)

    @property
    def best(self) -> np.ndarray:
        """The first candidate's row of each mention, (M,); every mention must have one."""
        return self.bounds[:-1]

    @property
    def kind(self) -> np.ndarray:
        """How each mention was found, (M,) see `Match`; NEIGHBOUR if it has no candidate yet."""
        kind = np.full(len(self), Match.NEIGHBOUR, np.uint8)
        named = self.sizes > 0
        kind[named] = self.match[self.best[named]]
        return kind

    @property
    def best_score(self) -> np.ndarray:
        """The score of each mention's first candidate, 0 if it has none, (M,) float32."""
        score = np.zeros(len(self), np.float32)
        named = self.sizes > 0
        score[named] = self.score[self.best[named]]
        return score

    def select(self, rows: np.ndarray) -> Mentions:
        """Return the mentions of some rows (indices or a mask), in that order."""
        if rows.dtype == bool and rows.all():
            return self
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        _, candidate = expand(self.bounds[rows], self.bounds[rows + 1])
        bounds = np.append(0, np.cumsum(self.sizes[rows]))
        spans = (self.text[rows], self.start[rows], self.end[rows])
        candidates = (column[candidate] for column in self._candidates())
        gold = None if self.gold is None else self.gold[rows]
        return Mentions(*spans, bounds, *candidates, gold=gold)

    def rows_of(self, text: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return the row of the mention at each span exactly, -1 where there is none."""
        if not len(self) or not len(text):
            return np.full(len(text), -1)
        most_start = max(int(self.start.max()), int(start.max())) + 1
        size, asked_size = self.end - self.start, end - start
        most_size = max(int(size.max()), int(asked_size.max())) + 1
        keys = (self.text * most_start + self.start) * most_size + size  # in order, as the rows
        asked = (text * most_start + start) * most_size + asked_size
        row = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
        return np.where(keys[row] == asked, row, -1)

    def keep_candidates(self, kept: np.ndarray) -> Mentions:
        """Return the mentions with the candidates of a mask (C,), and some left without any."""
        if kept.all():
            return self
        total = np.append(0, np.cumsum(kept))
        columns = (column[kept] for column in self._candidates())
        return self._with(total[self.bounds], *columns)

    def with_candidates(self, owner: np.ndarray, added: tuple[np.ndarray, ...]) -> Mentions:
        """Return the mentions with more candidates; `owner` is of the old ones and then the new."""
        order = np.argsort(owner, kind="stable")
        pairs = zip(self._candidates(), added, strict=True)
        columns = [np.concatenate(pair)[order] for pair in pairs]
        bounds = np.append(0, np.cumsum(np.bincount(owner, minlength=len(self))))
        return self._with(bounds, *columns)

    def shifted(self, texts: int) -> Mentions:
        """Return the mentions with the indices of their texts moved up."""
        return replace(self, text=self.text + texts)

    def with_scores(self, score: np.ndarray) -> Mentions:
        """Return the mentions with new scores (C,), the candidates of each best first."""
        owner = self.owner
        order = np.lexsort((-self.prior, -score, owner))
        columns = [column[order] for column in self._candidates()[:-1]]
        return self._with(self.bounds, *columns, score[order].astype(np.float32))

    def _candidates(self) -> tuple[np.ndarray, ...]:
        return self.entity, self.prior, self.match, self.forms, self.score

    def _with(self, bounds: np.ndarray, *candidates: np.ndarray) -> Mentions:
        """Return the same spans with other candidates."""
        return Mentions(self.text, self.start, self.end, bounds, *candidates, gold=self.gold)

    @classmethod
    def without_candidates(
        cls,
        text: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
        *,
        gold: np.ndarray | None = None,
    ) -> Mentions:
        """Make mentions that have no candidate yet."""
        bounds, none = np.zeros(len(text) + 1, np.int64), np.zeros(0, np.float32)
        kinds = none.astype(np.uint8)
        candidates = (none.astype(np.int64), none, kinds, kinds, none)
        return cls(text, start, end, bounds, *candidates, gold=gold)

    @classmethod
    def group(
        cls,
        text: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
        entity: np.ndarray,
        weight: np.ndarray,
        match: np.ndarray,
        forms: np.ndarray,
    ) -> Mentions:
        """Make mentions of rows that name one span and one candidate each.

        Of the rows of one span only those of the surest kind of match are kept, an entity once;
        priors are its weights brought to a sum of 1.
        """
        order = np.lexsort((entity, -weight, match, end, start, text))
        new_span = run_starts(text[order], start[order], end[order])
        first = order[new_span]
        owner = np.cumsum(new_span) - 1
        chosen = match[order] == match[first][owner]
        chosen &= _first_of_pairs(owner, entity[order])
        owner, rows = owner[chosen], order[chosen]
        prior = _shares(weight[rows], owner)
        bounds = np.append(0, np.cumsum(np.bincount(owner, minlength=len(first))))
        candidates = (entity[rows], prior, match[rows], forms[rows], np.zeros_like(prior))
        return cls(text[first], start[first], end[first], bounds, *candidates)

    @classmethod
    def concat(cls, parts: Sequence[Mentions]) -> Mentions:
        """Return the mentions of several tables, one table after the other.

        Either all of them have gold entities, or none has.
        """
        if not parts:
            none = np.zeros(0, np.int64)
            return cls.without_candidates(none, none, none)
        shifts = np.cumsum([0, *(len(part.entity) for part in parts)])
        bounds = [part.bounds[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
        joined = cls(
            np.concatenate([part.text for part in parts]),
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate([*bounds, shifts[-1:]]),
            *map(np.concatenate, zip(*(part._candidates() for part in parts), strict=True)),
        )
        return replace(joined, gold=_concat_gold(parts))

    @classmethod
    def merge(cls, *parts: Mentions) -> tuple[Mentions, np.ndarray]:
        """Return several tables as one in order, and the row each mention had when laid in line."""
        joined = cls.concat(parts)
        order = np.lexsort((joined.end, joined.start, joined.text))
        return joined.select(order), order


def _concat_gold(parts: Sequence[Mentions]) -> np.ndarray | None:
    gold = [part.gold for part in parts if part.gold is not None]
    if not gold:
        return None
    if len(gold) < len(parts):
        raise ValueError(f"{len(gold)} of {len(parts)} tables of mentions have gold entities")
    return np.concatenate(gold)


def _first_of_pairs(span: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Return which rows are the first of their (span, entity)."""
    order = np.lexsort((np.arange(len(span)), entity, span))
    first = np.zeros(len(span), bool)
    first[order] = run_starts(span[order], entity[order])
    return first


def _shares(weight: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Return weights divided by the sum of those of their owner, float32."""
    total = np.bincount(owner, weights=weight)
    return (weight / total[owner]).astype(np.float32)
