"""Hashes of many strings or sequences at once, and an index from hash to position.

All arithmetic is on unsigned 64-bit numbers that wrap around, so the same input gives the same
hash on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from kgraft.columns import string_buffers

T = TypeVar("T")
_BUCKET_SIZE = 4  # keys in a bucket of the index, on average
_FEW = 1024  # hashes that are looked up faster by bisection than bucket by bucket


def mix(values: np.ndarray) -> np.ndarray:
    """Scatter numbers over the whole range (the finaliser of splitmix64)."""
    x = values.astype(np.uint64)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


@cache
def multiplier(seed: int) -> np.uint64:
    """Return the odd number whose powers weigh the parts of a sequence."""
    return np.uint64(mix(np.array([seed + 0x9E3779B97F4A7C15], np.uint64))[0] | np.uint64(1))


def hash_segments(values: np.ndarray, bounds: np.ndarray, seed: int = 0) -> np.ndarray:
    """Hash values[bounds[i]:bounds[i+1]] for every i.

    hash(x₀…xₙ₋₁) = mix(n + Σₖ (xₖ + 1)·Bᵏ⁺¹), with B from `multiplier(seed)`.
    """
    lengths = np.diff(bounds)
    sums = np.zeros(len(lengths), np.uint64)
    filled = lengths > 0
    if filled.any():
        powers = np.cumprod(np.full(int(lengths.max()), multiplier(seed), np.uint64))
        position = np.arange(bounds[0], bounds[-1]) - np.repeat(bounds[:-1], lengths)
        terms = values[bounds[0] : bounds[-1]].astype(np.uint64) + np.uint64(1)
        terms *= powers[position]
        sums[filled] = np.add.reduceat(terms, bounds[:-1][filled] - bounds[0])
    return mix(sums + lengths.astype(np.uint64))


def hash_strings(strings: pa.Array | pa.ChunkedArray, seed: int = 0) -> np.ndarray:
    """Hash every string of a column by its UTF-8 bytes."""
    chunks = strings.chunks if isinstance(strings, pa.ChunkedArray) else [strings]
    hashes = []
    for chunk in chunks:
        for first in range(0, len(chunk), 1 << 18):
            data, bounds = string_buffers(chunk.slice(first, 1 << 18))
            hashes.append(hash_segments(data, bounds, seed))
    return np.concatenate(hashes) if hashes else np.zeros(0, np.uint64)


def distinct_hashes(make: Callable[[int], T], hashes: Callable[[T], np.ndarray]) -> T:
    """Return what `make` gives for the first seed under which no two of its hashes are equal."""
    for seed in range(100):
        made = make(seed)
        values = hashes(made)
        if len(np.unique(values)) == len(values):
            return made
    raise ValueError("items hash alike under every seed: they are not distinct")


@dataclass(frozen=True)
class HashIndex:
    """Sorted hashes with a table of where each bucket (hashes of equal top bits) begins.

    It is two flat arrays, so it can be memory-mapped and is ready as soon as it is opened.
    """

    keys: np.ndarray  # (n,) uint64, ascending
    buckets: np.ndarray  # (2**bits + 1,) int64

    @classmethod
    def build(cls, keys: np.ndarray) -> HashIndex:
        """Index ascending keys."""
        bits = max(0, (len(keys) // _BUCKET_SIZE).bit_length())
        buckets = np.zeros(2**bits + 1, np.int64)
        np.cumsum(np.bincount(_top(keys, bits), minlength=2**bits), out=buckets[1:])
        return cls(keys, buckets)

    def find(self, hashes: np.ndarray) -> np.ndarray:
        """Return the row of each hash in `keys`, or -1."""
        if not len(self.keys):
            return np.full(len(hashes), -1, np.int64)
        if len(hashes) <= _FEW:
            row = np.minimum(np.searchsorted(self.keys, hashes), len(self.keys) - 1)
            return np.where(self.keys[row] == hashes, row, -1)
        return self._find_by_bucket(hashes)

    def _find_by_bucket(self, hashes: np.ndarray) -> np.ndarray:
        bits = (len(self.buckets) - 1).bit_length() - 1
        tops = _top(hashes, bits)
        row, end = self.buckets[tops], self.buckets[tops + 1]
        rows = np.full(len(hashes), -1, np.int64)
        active = np.flatnonzero(row < end)
        while active.size:
            at = row[active]
            keys = self.keys[at]
            wanted = hashes[active]
            hit = keys == wanted
            rows[active[hit]] = at[hit]
            more = (keys < wanted) & (at + 1 < end[active])
            active = active[more]
            row[active] += 1
        return rows


def _top(hashes: np.ndarray, bits: int) -> np.ndarray:
    """Return the highest bits; two shifts, because a shift by 64 is not defined."""
    return (hashes >> np.uint64(1) >> np.uint64(63 - bits)).astype(np.int64)
