"""Attention over the best of some scores."""

from __future__ import annotations

import numpy as np


def attend(scores: np.ndarray, count: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the best `count` columns of each row (B, S), best first, and their softmax, (B, M).

    Columns of −∞ have no weight, so that a row of nothing else has weights of 0.

    >>> columns, weights = attend(np.array([[0.0, 2.0, 1.0]]), 2, 1.0)
    >>> columns.tolist(), weights.round(3).tolist()
    ([[1, 2]], [[0.731, 0.269]])
    """
    count = min(count, scores.shape[1])
    if not count:
        return np.zeros((len(scores), 0), np.int64), np.zeros((len(scores), 0))
    columns = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(scores, columns, axis=1), axis=1, kind="stable")
    columns = np.take_along_axis(columns, order, axis=1)
    best = np.take_along_axis(scores, columns, axis=1).astype(np.float64)
    top = np.where(np.isneginf(best[:, :1]), 0.0, best[:, :1])
    weights = np.exp((best - top) / temperature)
    return columns, weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
