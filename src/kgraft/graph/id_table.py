"""Ids of entities or relations, each with its index in the order of arrival.

Ids are kept as columns and found by their hashes, which lie sorted in a few runs: a new run is
merged with those before it that are no longer than it, so that there are never many.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.hashing import hash_strings

MISSING = -1


class IdTable:
    """Ids and their indices.

    >>> ids = IdTable()
    >>> ids.look_up(pa.array(["b", "a", "b"]), add=True).tolist()
    [0, 1, 0]
    >>> ids.look_up(pa.array(["a", "c"]), add=False).tolist()
    [1, -1]
    """

    def __init__(self) -> None:
        self._parts: list[pa.Array] = []  # ids in order
        self._count = 0
        self._seed = 0
        self._runs: list[tuple[np.ndarray, np.ndarray]] = []  # sorted hashes, and their indices

    def __len__(self) -> int:
        return self._count

    def __contains__(self, item: str) -> bool:
        return self.get(item) != MISSING

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part.to_pylist()

    @property
    def column(self) -> pa.ChunkedArray:
        """All ids in the order of their indices."""
        return pa.chunked_array(self._parts, pa.string())

    def get(self, item: str) -> int:
        """Return the index of one id, -1 where it is not there."""
        return int(self.look_up(pa.array([item], pa.string()), add=False)[0])

    def look_up(self, ids: pa.Array, *, add: bool) -> np.ndarray:
        """Return the index of every id, -1 for one that is not there; `add` gives it the next."""
        encoded = pc.dictionary_encode(ids)
        distinct = encoded.dictionary.cast(pa.string())
        index = self._find(distinct, add=add)
        return index[numbers(encoded.indices)]

    def _find(self, distinct: pa.Array, *, add: bool) -> np.ndarray:
        hashes = hash_strings(distinct, self._seed)
        index = self._by_hash(hashes)
        new = np.flatnonzero(index == MISSING)
        if self._collides(distinct, index) or (add and _repeats(hashes[new])):
            self._hash_again()
            return self._find(distinct, add=add)
        if add and len(new):
            index[new] = np.arange(self._count, self._count + len(new))
            self._parts.append(distinct.take(pa.array(new)))
            self._count += len(new)
            self._add_run(hashes[new], index[new])
        return index

    def _by_hash(self, hashes: np.ndarray) -> np.ndarray:
        order = np.argsort(hashes)  # neighbouring look-ups touch neighbouring memory
        wanted, by_hash = hashes[order], np.full(len(hashes), MISSING, np.int64)
        for keys, indices in self._runs:
            position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = keys[position] == wanted
            by_hash[hit] = indices[position[hit]]
        index = np.empty_like(by_hash)
        index[order] = by_hash
        return index

    def _collides(self, distinct: pa.Array, index: np.ndarray) -> bool:
        """Tell whether some id has the hash of another one."""
        hits = np.flatnonzero(index != MISSING)
        if not len(hits):
            return False
        stored = self._take(index[hits])
        return not pc.all(pc.equal(stored, distinct.take(pa.array(hits)))).as_py()

    def _take(self, indices: np.ndarray) -> pa.Array:
        """Return some ids, part by part."""
        bounds = np.append(0, np.cumsum([len(part) for part in self._parts]))
        part = np.searchsorted(bounds, indices, side="right") - 1
        order = np.argsort(part, kind="stable")
        edges = np.searchsorted(part[order], np.arange(len(self._parts) + 1))
        taken = [
            ids.take(pa.array(indices[order[low:high]] - first))
            for ids, first, low, high in zip(
                self._parts, bounds[:-1], edges[:-1], edges[1:], strict=True
            )
            if high > low
        ]
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        return pa.concat_arrays(taken).take(pa.array(position))

    def _add_run(self, hashes: np.ndarray, indices: np.ndarray) -> None:
        while self._runs and len(self._runs[-1][0]) <= len(hashes):
            keys, others = self._runs.pop()
            hashes, indices = np.append(keys, hashes), np.append(others, indices)
        order = np.argsort(hashes, kind="stable")
        self._runs.append((hashes[order], indices[order]))

    def _hash_again(self) -> None:
        """Take the next seed under which the hashes of all ids differ."""
        column = self.column
        while True:
            self._seed += 1
            hashes = hash_strings(column, self._seed)
            if not _repeats(hashes):
                break
        self._runs = []
        if self._count:
            self._add_run(hashes, np.arange(self._count))


def _repeats(hashes: np.ndarray) -> bool:
    return len(np.unique(hashes)) < len(hashes)
