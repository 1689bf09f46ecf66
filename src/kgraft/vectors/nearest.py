"""Nearest by cosine: the best of all rows, looked at block by block."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch


def nearest_rows(
    blocks: Iterable[tuple[np.ndarray, torch.Tensor]], query: torch.Tensor, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices and cosines of the rows nearest to a query (D,), best first.

    A block is the indices (n,) of some rows and their vectors (n, D). Zeros are near to nothing;
    of rows equally near the smaller index comes first.
    """
    best, cosines = np.zeros(0, np.int64), np.zeros(0)
    length = torch.linalg.vector_norm(query, dtype=torch.float64)
    if length == 0:
        return best, cosines
    unit = (query / length).float()
    for indices, vectors in blocks:
        near = _cosines(vectors, unit)
        finite = np.isfinite(near)
        best = np.concatenate([best, indices[finite]])
        cosines = np.concatenate([cosines, near[finite]])
        kept = _top(best, cosines, limit)
        best, cosines = best[kept], cosines[kept]
    return best, cosines


def _cosines(vectors: torch.Tensor, unit: torch.Tensor) -> np.ndarray:
    """Return the cosine of each row with a vector of length 1; NaN for a row of zeros."""
    lengths = torch.linalg.vector_norm(vectors, dim=1, dtype=torch.float64)  # (n,)
    return ((vectors @ unit).double() / lengths).clamp(-1, 1).numpy()


def _top(indices: np.ndarray, cosines: np.ndarray, limit: int) -> np.ndarray:
    """Return where the `limit` largest cosines stand, ties by index, in order."""
    rows = np.arange(len(cosines))
    if len(rows) > limit:
        rows = np.flatnonzero(cosines >= np.partition(cosines, -limit)[-limit])
    return rows[np.lexsort((indices[rows], -cosines[rows]))][:limit]
