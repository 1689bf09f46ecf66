"""Noticed: the mentions of many windows, found once and taken batch by batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from kgraft.graft.mentions import NIL, NONE, UNKNOWN, Mentions
from kgraft.graph.adjacency import expand
from kgraft.graph.names import Named
from kgraft.text import TokenSpans, Windows

CANDIDATES = 30  # of a mention, at most
LONGEST = 6  # tokens of a mention, at most


@dataclass(frozen=True)
class Noticed:
    """The mentions of windows, in order of the window, with their candidates end to end."""

    places: TokenSpans  # (S,)
    bounds: np.ndarray  # (S + 1,) mention s has the candidates bounds[s] to bounds[s + 1]
    entity: np.ndarray  # (C,) likeliest first
    prior: np.ndarray  # (C,) float32
    gold: np.ndarray  # (S,) the entity that is meant, UNKNOWN or NIL

    @classmethod
    def of(
        cls,
        windows: Windows,
        named: Named,
        *,
        gold: np.ndarray | None = None,
        candidates: int = CANDIDATES,
        longest: int = LONGEST,
    ) -> Noticed:
        """Put names into the windows of their texts; `gold` is the entity each of them means.

        Names that no window holds, and those of more than `longest` tokens, are left out; so are
        all but the likeliest `candidates`.
        """
        places = windows.locate(*named.characters(named.start, named.end))
        fits = np.flatnonzero((places.window >= 0) & (places.last - places.first <= longest))
        rows = fits[np.argsort(places.window[fits], kind="stable")]
        first = named.candidates[rows]
        last = np.minimum(named.candidates[rows + 1], first + candidates)
        _, taken = expand(first, last)
        meant = np.full(len(rows), UNKNOWN) if gold is None else gold[rows]
        bounds = np.append(0, np.cumsum(last - first))
        return cls(places.select(rows), bounds, named.entity[taken], named.prior[taken], meant)

    def batch(self, numbers: np.ndarray) -> Mentions:
        """Return the mentions of some windows, in their order."""
        sides = (np.searchsorted(self.places.window, numbers, side=s) for s in ("left", "right"))
        begin, stop = sides
        row, span = expand(begin, stop)  # (S,) row of the batch, mention
        column = span - begin[row]
        shape = (len(numbers), int((stop - begin).max(initial=0)))
        first, last = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        first[row, column], last[row, column] = self.places.first[span], self.places.last[span]
        at, which = expand(self.bounds[span], self.bounds[span + 1])
        rank = which - self.bounds[span][at]
        wide = (*shape, int(rank.max(initial=0)) + 1)
        entity, prior = np.full(wide, NONE, np.int64), np.zeros(wide, np.float32)
        place = (row[at], column[at], rank)
        entity[place], prior[place] = self.entity[which], self.prior[which]
        gold = np.full(shape, UNKNOWN, np.int64)
        gold[row, column] = self.gold[span]
        return Mentions(
            *map(torch.from_numpy, (first, last, entity, prior, _places_of(gold, entity)))
        )


def _places_of(gold: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Return where the entities that are meant (B, M) stand among the candidates (B, M, K)."""
    same = (entity == gold[:, :, None]) & (gold >= 0)[:, :, None]
    place = np.where(same.any(-1), same.argmax(-1), UNKNOWN)
    return np.where(gold == NIL, NIL, place)
