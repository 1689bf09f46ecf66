"""Pooling: the vectors of tokens become one vector per text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from kgraft.text.encoder import TokenVectors

Pooling = Literal["mean", "cls"]


def full_precision(device: torch.device) -> torch.autocast:
    """Switch a surrounding autocast off: bfloat16 crashes processors that only announce it."""
    return torch.autocast(device.type, enabled=False)


def pool(batch: TokenVectors, pooling: Pooling) -> Tensor:
    """Return the mean over all tokens, or the first token's vector, (B, D)."""
    if pooling == "cls":
        return batch.vectors[:, 0]
    weights = batch.mask.to(batch.vectors.dtype)  # (B, L)
    weights = weights / weights.sum(1, keepdim=True)
    with full_precision(weights.device):
        return torch.bmm(weights[:, None], batch.vectors)[:, 0]


def group_means(vectors: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Return the mean of each group's rows; `group` (N,) is sorted and names every group."""
    counts = np.bincount(group, minlength=groups).astype(np.float32)
    starts = np.searchsorted(group, np.arange(groups))
    return np.add.reduceat(vectors, starts) / counts[:, None] if groups else vectors


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Bring vectors to length one, in place."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.maximum(norms, np.finfo(np.float32).tiny)
    return vectors
