"""Ragged rows as flat arrays: bounds to rows, the rank of each row, where runs begin."""

from __future__ import annotations

import numpy as np


def expand(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the integers first[i] … last[i] - 1 for every i: return i and the integer, flat."""
    count = last - first
    owner = np.repeat(np.arange(len(first)), count)
    start = np.repeat(first - (np.cumsum(count) - count), count)
    return owner, start + np.arange(len(owner))


def rank_within(owner: np.ndarray) -> np.ndarray:
    """Return the rank of each row among those of its owner; owners ascend.

    >>> rank_within(np.array([2, 2, 2, 5, 7, 7])).tolist()
    [0, 1, 2, 0, 0, 1]
    """
    return np.arange(len(owner)) - np.searchsorted(owner, owner)


def run_starts(*columns: np.ndarray) -> np.ndarray:
    """Return which rows of some columns differ from the one before them, as the first always does.

    >>> run_starts(np.array([4, 4, 7, 4])).tolist()
    [True, False, True, True]
    """
    starts = np.ones(len(columns[0]), bool)
    starts[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return starts
