"""A segment of the cache: the vectors of some texts under the hashes of the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
import torch

from kgraft.storage import new_file
from kgraft.vectors.tensors import UNREADABLE, map_tensors, write_tensors

SUFFIX = ".safetensors"


@dataclass(frozen=True, eq=False)
class Segment:
    """Vectors by key; keys are sorted. In memory, or mapped from a file that never changes."""

    keys: np.ndarray  # (n, 2) uint64, ascending by the first half
    vectors: np.ndarray  # (n, D) float32
    sums: np.ndarray  # (n,) int64, checksum of each vector
    path: Path | None = None

    @classmethod
    def of(cls, keys: np.ndarray, vectors: np.ndarray) -> Segment:
        """Make a segment of keys (n, 2) and vectors (n, D); the first of equal keys is kept."""
        _, first = np.unique(keys, axis=0, return_index=True)
        vectors = vectors[first].astype(np.float32, copy=False)
        return cls(keys[first], vectors, _sums(vectors))

    @classmethod
    def joined(cls, segments: Sequence[Segment]) -> Segment:
        """Make one segment of several; vectors that are damaged are left out."""
        keys = np.concatenate([segment.keys for segment in segments])
        vectors = np.concatenate([segment.vectors for segment in segments])
        sound = _sums(vectors) == np.concatenate([segment.sums for segment in segments])
        return cls.of(keys[sound], vectors[sound])

    @classmethod
    def read(cls, path: Path, dimension: int) -> Segment | None:
        """Map a segment from its file; None where that is damaged, an OSError where it is away."""
        try:
            tensors = map_tensors(path)
            keys, vectors, sums = (tensors[name].numpy() for name in ("keys", "vectors", "sums"))
        except OSError:
            raise
        except (*UNREADABLE, KeyError, TypeError):
            return None
        count, kinds = sums.size, [array.dtype.name for array in (keys, vectors, sums)]
        shapes = keys.shape, vectors.shape, sums.shape
        if shapes != ((count, 2), (count, dimension), (count,)):
            return None
        if kinds != ["int64", "float32", "int64"]:
            return None
        keys = keys.view(np.uint64)
        ascending = bool((keys[1:, 0] >= keys[:-1, 0]).all())
        return cls(keys, vectors, sums, path) if ascending else None

    def write(self, folder: Path) -> Segment | None:
        """Write the segment under a name of its own and return it mapped."""
        path = folder / f"{uuid4().hex}{SUFFIX}"
        columns = {"keys": self.keys.view(np.int64), "sums": self.sums, "vectors": self.vectors}
        with new_file(path) as partial:
            tensors = {name: torch.from_numpy(column) for name, column in columns.items()}
            write_tensors(partial, tensors)
        return Segment.read(path, self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key (n, 2), or -1."""
        if not len(self):
            return np.full(len(keys), -1, np.int64)
        row = np.searchsorted(self.keys[:, 0], keys[:, 0]).clip(max=len(self) - 1)
        return np.where((self.keys[row] == keys).all(1), row, -1)

    def sound(self, rows: np.ndarray) -> bool:
        """Tell whether the vectors of some rows are as they were written."""
        return bool((_sums(self.vectors[rows]) == self.sums[rows]).all())


def _sums(vectors: np.ndarray) -> np.ndarray:
    """Return a checksum of each row that any one changed number changes."""
    bits = np.ascontiguousarray(vectors).view(np.int32)
    return bits.sum(1, dtype=np.int64) + 1  # a row of nothing but zeros is not sound by chance
