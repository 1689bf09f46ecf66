"""Held-out splits: which rows to train on, and which to validate on."""

from __future__ import annotations

import numpy as np


def hold_out(count: int, *, fraction: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices below `count` to train on, and a fraction to validate on; each rising.

    Of two or more at least one is held out, and at least one is not.

    >>> [part.tolist() for part in hold_out(11)]
    [[0, 1, 2, 3, 5, 6, 7, 8, 9, 10], [4]]
    """
    order = np.random.default_rng(seed).permutation(count)
    size = min(max(int(count * fraction), 1), count - 1) if count > 1 else 0
    return np.sort(order[size:]), np.sort(order[:size])
