"""The ring keeps what was added last, and nothing under a wrong key."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.vectors import recent as module
from kgraft.vectors.recent import RecentVectors, key_bytes


def keys_of(numbers):
    return key_bytes(np.array([[n, 2**64 - 1 - n] for n in numbers], np.uint64).reshape(-1, 2))


def vectors_of(numbers):
    return np.repeat(np.array(numbers, np.float32)[:, None], 2, 1).reshape(-1, 2)


def small(size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BYTES", size * 8)
        return RecentVectors(2)


@given(added=st.lists(st.lists(st.integers(0, 12), max_size=9), max_size=12))
def test_agrees_with_a_list(added):
    ring, naive = small(5), []
    for numbers in added:
        ring.add(keys_of(numbers), vectors_of(numbers))
        new = dict.fromkeys(n for n in numbers[-5:] if n not in naive)
        naive = [*naive, *new][-5:]
    vectors = np.full((13, 2), -1, np.float32)
    there = ring.take(keys_of(range(13)), vectors)
    assert np.flatnonzero(there).tolist() == sorted(naive)
    assert np.array_equal(ring.holds(keys_of(range(13))), there)
    assert np.array_equal(vectors[there], vectors_of(sorted(naive)))
    assert (vectors[~there] == -1).all()


def test_keys_are_told_apart_by_both_halves():
    names = key_bytes(np.array([[0, 1], [1, 0], [0, 1], [2**64 - 1, 0]], np.uint64))
    assert [len(name) for name in names] == [16] * 4
    assert len(set(names)) == 3
    assert key_bytes(np.empty((0, 2), np.uint64)) == []
