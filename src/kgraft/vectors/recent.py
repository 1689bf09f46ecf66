"""Recent vectors: those that were used last, in memory, in a ring of fixed size."""

from __future__ import annotations

from itertools import repeat

import numpy as np

BYTES = 1 << 24  # of vectors that are kept


def key_bytes(keys: np.ndarray) -> list[bytes]:
    """Return keys (n, 2) uint64 as one string of bytes each."""
    parts: list[bytes] = np.ascontiguousarray(keys, np.uint64).view("V16").ravel().tolist()
    return parts


def find_rows(rows: dict[bytes, int], keys: list[bytes]) -> np.ndarray:
    """Return the row of each key, -1 where it has none."""
    return np.fromiter(map(rows.get, keys, repeat(-1)), np.int64, len(keys))


class RecentVectors:
    """The vectors that were added last, by key; what is added overwrites what is oldest."""

    def __init__(self, dimension: int) -> None:
        self.size = max(BYTES // (4 * max(dimension, 1)), 1)
        self._vectors = np.empty((self.size, dimension), np.float32)
        self._keys: list[bytes | None] = [None] * self.size
        self._rows: dict[bytes, int] = {}
        self._next = 0

    def take(self, keys: list[bytes], vectors: np.ndarray) -> np.ndarray:
        """Put the vectors of keys into the rows of `vectors` (n, D); return which are there."""
        rows = find_rows(self._rows, keys)
        there = rows >= 0
        vectors[there] = self._vectors[rows[there]]
        return there

    def holds(self, keys: list[bytes]) -> np.ndarray:
        """Return which keys are there."""
        return find_rows(self._rows, keys) >= 0

    def add(self, keys: list[bytes], vectors: np.ndarray) -> None:
        """Keep vectors (n, D) under their keys, of more than fit the last ones."""
        new = {key: row for row, key in enumerate(keys[-self.size :]) if key not in self._rows}
        rows = np.fromiter(new.values(), np.int64, len(new)) + max(len(keys) - self.size, 0)
        slots = (self._next + np.arange(len(new))) % self.size
        self._next = (self._next + len(new)) % self.size
        self._vectors[slots] = vectors[rows]
        for slot, key in zip(slots.tolist(), new, strict=True):
            old, self._keys[slot] = self._keys[slot], key
            if old is not None:
                del self._rows[old]
            self._rows[key] = slot
