"""Decoding: from scored mentions to links, of which no two overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np

from kgraft.graph.mentions import Match, Mentions


def choose_links(mentions: Mentions, threshold: float) -> np.ndarray:
    """Return the rows of the mentions that become links, in order.

    Best first, and none that overlaps a better one; of equal scores the longer, then the left. A
    mention is a link only if no longer one around it is: its score s counts as s · (1 − s'), with
    s' the best score around it. A name of several words that means one entity alone rules out all
    that is inside it.
    """
    has_candidate = mentions.sizes > 0
    score = np.zeros(len(mentions), np.float32)
    score[has_candidate] = mentions.score[mentions.best[has_candidate]]
    score *= 1 - score_around(mentions, score)
    usable = has_candidate & ~inside_unique_name(mentions) & (score >= threshold)
    # Positions of all texts on one axis, so that spans of different texts never overlap.
    shift = mentions.text * (int(mentions.end.max(initial=0)) + 1)
    return choose_spans(score, mentions.start + shift, mentions.end + shift, usable)


def choose_spans(
    score: np.ndarray, start: np.ndarray, end: np.ndarray, usable: np.ndarray
) -> np.ndarray:
    """Return which usable spans are taken when the best come first and none may overlap."""
    rows = np.flatnonzero(usable)
    order = rows[np.lexsort((start[rows], start[rows] - end[rows], -score[rows]))]
    starts: list[int] = []  # of the spans taken, rising
    end_of: dict[int, int] = {}
    taken = []
    for row, first, last in zip(
        order.tolist(), start[order].tolist(), end[order].tolist(), strict=True
    ):
        position = bisect_right(starts, first)
        clear_before = position == 0 or end_of[starts[position - 1]] <= first
        if clear_before and (position == len(starts) or starts[position] >= last):
            starts.insert(position, first)
            end_of[first] = last
            taken.append(row)
    return np.sort(np.array(taken, np.int64))


def score_around(mentions: Mentions, score: np.ndarray) -> np.ndarray:
    """Return the best score of the mentions that each mention lies in, (M,).

    It is 0 where there is none, and for pinned names, which are links wherever they stand.
    """
    around = np.zeros(len(mentions), score.dtype)
    for outer, inner in _nested(mentions, np.arange(len(mentions))):
        around[inner] = max(around[inner], score[outer])
    around[mentions.kind == Match.PINNED] = 0
    return around


def inside_unique_name(mentions: Mentions) -> np.ndarray:
    """Return which mentions lie inside a longer name that means one entity alone, (M,)."""
    inside = np.zeros(len(mentions), bool)
    unique = np.flatnonzero((mentions.sizes == 1) & (mentions.kind <= Match.NAME))
    for _, inner in _nested(mentions, unique):
        inside[inner] = True
    return inside


def _nested(mentions: Mentions, outer: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the pairs of an outer mention and one that lies in it; mentions are in order."""
    text, start, end = (a.tolist() for a in (mentions.text, mentions.start, mentions.end))
    spans = list(zip(text, start, strict=True))
    for row in outer.tolist():
        begin = bisect_left(spans, spans[row])
        stop = bisect_left(spans, (text[row], end[row]), begin)
        for other in range(begin, stop):
            if other != row and end[other] <= end[row]:
                yield row, other
