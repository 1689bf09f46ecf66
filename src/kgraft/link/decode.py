"""Decoding: from scored mentions to links, of which no two overlap."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from kgraft.graph import Mentions
from kgraft.link.nested import inside_unique_name


def choose_links(mentions: Mentions, threshold: float) -> np.ndarray:
    """Return the rows of the mentions that become links, in order.

    Best first, and none that overlaps a better one; of equal scores the longer, then the left. A
    name of several words that means one entity alone rules out all that is inside it.
    """
    score = mentions.best_score
    usable = (mentions.sizes > 0) & ~inside_unique_name(mentions) & (score >= threshold)
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
