"""Typos: the names within one or two edits of a text, among very many names.

A name is compared letter by letter only where its length and its set of letters allow so few edits:
an edit changes the length by at most one, and the set by at most two letters.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgraft.columns import StringColumn, broken_codepoints, codepoints

EDITS = ((6, 2), (3, 1))  # letters of a name from which on so many edits are allowed


class SimilarNames:
    """The length and the set of letters of each name."""

    def __init__(self, names: StringColumn) -> None:
        self._names = names
        parts = [_summary(chunk) for chunk in names.chunks]
        none = (np.zeros(0, np.uint64), np.zeros(0, np.int32))
        self._letters, self._length = map(np.concatenate, zip(none, *parts, strict=True))

    def find(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of all names within the edits allowed, and how many each needs.

        The name itself is not among them.
        """
        points = codepoints(name)
        edits = next((edits for length, edits in EDITS if len(points) >= length), 0)
        near = np.abs(self._length - len(points)) <= edits
        rows = np.flatnonzero(near) if edits else np.zeros(0, np.int64)
        apart = np.bitwise_count(self._letters[rows] ^ _letter_set(points))
        rows = rows[apart <= 2 * edits]
        distance = edit_distances(name, self._names.take(rows), most=edits)
        fits = (distance > 0) & (distance <= edits)
        return rows[fits], distance[fits]


def _summary(names: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the set of letters of each name, as bits, and its length."""
    points, bounds = broken_codepoints(names, "\x00")  # the mark keeps every name non-empty
    bits = _bits(points)
    bits[bounds[1:] - 1] = 0
    letters = np.bitwise_or.reduceat(bits, bounds[:-1]) if len(bits) else bits
    return letters, (np.diff(bounds) - 1).astype(np.int32)


def _bits(points: np.ndarray) -> np.ndarray:
    return np.left_shift(np.uint64(1), points.astype(np.uint64) & np.uint64(63))


def _letter_set(points: np.ndarray) -> np.uint64:
    return np.uint64(np.bitwise_or.reduce(_bits(points), initial=np.uint64(0)))


def edit_distances(name: str, others: list[str], *, most: int) -> np.ndarray:
    """Return the edits from a name to each of others; more than `most` count as `most` + 1.

    An edit inserts, deletes or replaces a letter, or swaps two neighbours (optimal string
    alignment): d(i, j) = min(d(i-1, j) + 1, d(i, j-1) + 1, d(i-1, j-1) + [xᵢ ≠ yⱼ],
    d(i-2, j-2) + 1 where xᵢ = yⱼ₋₁ and xᵢ₋₁ = yⱼ). Only |i - j| ≤ `most` is worked out.

    >>> edit_distances("berlin", ["berlni", "merlin", "berlin", "dublin"], most=2).tolist()
    [1, 1, 0, 3]
    """
    if not others:
        return np.zeros(0, np.int64)
    x = codepoints(name)
    size = np.array([len(other) for other in others])
    width = len(x) + most
    y = _letter_columns(others, width)
    over = most + 1
    start = np.minimum(np.arange(width + 1), over).astype(np.int16)
    before = last = np.repeat(start[:, None], len(others), 1)  # d(i - 2, ·) and d(i - 1, ·)
    for i in range(1, len(x) + 1):
        before, last = last, _next_distances(x[:i], y, before, last, most)
    distance = last[np.minimum(size, width), np.arange(len(others))].astype(np.int64)
    distance[np.abs(size - len(x)) > most] = over
    return distance


def _letter_columns(names: list[str], width: int) -> np.ndarray:
    """Return the first letters of names as columns, (width, N), with 0 behind the last."""
    letters = np.zeros((width, len(names)), np.uint32)
    for column, name in enumerate(names):
        letters[: min(len(name), width), column] = codepoints(name)[:width]
    return letters


def _next_distances(
    x: np.ndarray, y: np.ndarray, before: np.ndarray, last: np.ndarray, most: int
) -> np.ndarray:
    """Return d(i, ·) of every y for an x of i letters, given d(i - 2, ·) and d(i - 1, ·)."""
    i, over = len(x), most + 1
    row = np.full_like(last, over)
    row[0] = min(i, over)
    for j in range(max(1, i - most), min(len(y), i + most) + 1):
        best = np.minimum(last[j], row[j - 1]) + np.int16(1)
        np.minimum(best, last[j - 1] + (y[j - 1] != x[i - 1]), out=best)
        if i > 1 and j > 1:
            swapped = (y[j - 2] == x[i - 1]) & (y[j - 1] == x[i - 2])
            np.minimum(best, np.where(swapped, before[j - 2] + 1, np.int16(over)), out=best)
        row[j] = np.minimum(best, over)
    return row
