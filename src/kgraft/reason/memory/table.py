"""The table of a memory: the vectors of all its keys as int8 on disk, mapped, with their index.

It is made in blocks, each a file of its own, so that what was interrupted resumes. Rows are in
order of their keys, which are hashes of texts: a later version of the graph finds here what it
shares with the earlier one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from kgraft.progress import Progress
from kgraft.storage import Kind, new_file, new_folder
from kgraft.text import quantise
from kgraft.vectors import EntityIndex

KIND = Kind("memory of facts", "index.faiss")
BLOCK = 2048  # vectors per file while a table is made: what an interruption may cost
_FILES = ("keys", "codes", "scales")

Encode = Callable[[np.ndarray], np.ndarray]
"""From rows (n,) to their vectors of unit length (n, D)."""


@dataclass(frozen=True)
class KeyTable:
    """Vectors of unit length by key."""

    keys: np.ndarray  # (T, 2) uint64, ascending
    codes: np.ndarray  # (T, D) int8
    scales: np.ndarray  # (T,) float32
    index: EntityIndex  # of rows

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def open(cls, folder: Path) -> KeyTable:
        """Map the table of a folder; the index is verified by its checksum, the rest by size."""
        index = EntityIndex.open(folder / KIND.marker)
        keys, codes, scales = (np.load(folder / f"{n}.npy", mmap_mode="r") for n in _FILES)
        shapes = ((len(index), 2), (len(index), index.dimension), (len(index),))
        if (keys.shape, codes.shape, scales.shape) != shapes:
            raise ValueError(f"the arrays in {folder} do not fit its index")
        return cls(keys, codes, scales, index)

    def rows(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key (n, 2), -1 where there is none."""
        if not len(self):
            return np.full(len(keys), -1, np.int64)
        row = np.searchsorted(self.keys[:, 0], keys[:, 0]).clip(max=len(self) - 1)
        return np.where((self.keys[row] == keys).all(axis=1), row, -1)

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of rows, (n, D) float32."""
        return self.codes[rows] * np.asarray(self.scales[rows], np.float32)[:, None]


def make_table(folder: Path, keys: np.ndarray, encode: Encode, progress: Progress) -> None:
    """Write the table of keys (T, 2), ascending; what was interrupted resumes."""
    parts = folder.with_name(f"{folder.name}.parts")
    progress.start("encoding facts", len(keys))
    for first in range(0, len(keys), BLOCK):
        rows = np.arange(first, min(first + BLOCK, len(keys)))
        _write_part(parts / f"{first}.npz", rows, encode)
        progress.advance(len(rows))
    with new_folder(folder, KIND, overwrite=True) as partial:
        columns = zip(*_read_parts(parts, len(keys)), strict=True)
        codes, scales = (np.concatenate(column) for column in columns)
        for name, array in zip(_FILES, (keys, codes, scales), strict=True):
            np.save(partial / f"{name}.npy", array)
        progress.start("indexing facts")
        _build_index(codes, scales).save(partial / KIND.marker)
    shutil.rmtree(parts, ignore_errors=True)


def _write_part(path: Path, rows: np.ndarray, encode: Encode) -> None:
    if not path.exists():
        codes, scales = quantise(encode(rows))
        with new_file(path) as partial, partial.open("wb") as stream:
            np.savez(stream, codes=codes, scales=scales)


def _read_parts(folder: Path, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for first in range(0, count, BLOCK):
        with np.load(folder / f"{first}.npz") as part:
            yield part["codes"], part["scales"]


def _build_index(codes: np.ndarray, scales: np.ndarray) -> EntityIndex:
    def blocks() -> Iterator[torch.Tensor]:
        for first in range(0, len(codes), BLOCK):
            rows = slice(first, first + BLOCK)
            yield torch.from_numpy(codes[rows] * scales[rows, None])

    return EntityIndex.build(blocks, len(codes), codes.shape[1])
