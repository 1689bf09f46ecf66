"""A segment finds vectors by key, in memory and on disk, and notices damage."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgraft.vectors.segment import Segment
from kgraft.vectors.tensors import write_tensors


def keys_of(pairs):
    return np.array(pairs, np.uint64).reshape(-1, 2)


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 2**63, 2**64 - 1])] * 2), max_size=12))
def test_find_agrees_with_a_dictionary(pairs):
    vectors = np.arange(len(pairs), dtype=np.float32)[:, None]
    segment = Segment.of(keys_of(pairs), vectors)
    table = {pair: n for n, pair in reversed(list(enumerate(pairs)))}
    assert len(segment) == len(table)
    asked = [(a, b) for a in (0, 1, 7, 2**63) for b in (0, 2, 2**64 - 1)]
    for pair, row in zip(asked, segment.find(keys_of(asked)), strict=True):
        twin = any(p[0] == pair[0] and p != pair for p in pairs)
        if pair not in table:
            assert row == -1
        elif not twin:  # of keys with one first half, only one need be found
            assert segment.vectors[row, 0] == table[pair]


def test_a_written_segment_is_the_same(tmp_path, random_vectors):
    segment = Segment.of(keys_of([(5, 1), (2**64 - 1, 0), (3, 3)]), random_vectors(3, 4).numpy())
    read = segment.write(tmp_path)
    assert read.path.parent == tmp_path
    for name in ("keys", "vectors", "sums"):
        assert np.array_equal(getattr(read, name), getattr(segment, name))
    assert read.sound(np.arange(3))
    assert [path.suffix for path in tmp_path.iterdir()] == [".safetensors"]


def test_any_changed_number_is_noticed(random_vectors):
    vectors = random_vectors(4, 3).numpy()
    segment = Segment.of(keys_of([(n, 0) for n in range(4)]), vectors)
    segment.vectors[2, 1] = np.nextafter(segment.vectors[2, 1], 9, dtype=np.float32)
    assert [segment.sound(np.array([n])) for n in range(4)] == [True, True, False, True]
    assert Segment.joined([segment]).keys[:, 0].tolist() == [0, 1, 3]


def test_rows_that_became_zeros_are_noticed():
    segment = Segment.of(keys_of([(1, 1)]), np.ones((1, 2), np.float32))
    segment.vectors[:], segment.sums[:] = 0, 0
    assert not segment.sound(np.array([0]))


def test_all_damaged_makes_an_empty_segment():
    segment = Segment.of(keys_of([(1, 1)]), np.ones((1, 2), np.float32))
    segment.vectors[:] = 5
    joined = Segment.joined([segment])
    assert len(joined) == 0
    assert joined.find(keys_of([(1, 1)])).tolist() == [-1]


KEYS = torch.tensor([[1, 2], [3, 4]])
GOOD = {"keys": KEYS, "vectors": torch.ones(2, 3), "sums": torch.ones(2, dtype=torch.int64)}


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {**GOOD, "keys": KEYS.float()},
        {**GOOD, "keys": KEYS.flip(0)},
        {**GOOD, "vectors": torch.ones(2, 4)},
        {**GOOD, "sums": torch.ones(3, dtype=torch.int64)},
        {**GOOD, "sums": torch.tensor(2)},
    ],
)
def test_a_file_of_another_shape_is_no_segment(tmp_path, tensors):
    write_tensors(tmp_path / "good", GOOD)
    write_tensors(tmp_path / "bad", tensors)
    assert Segment.read(tmp_path / "good", 3) is not None
    assert Segment.read(tmp_path / "bad", 3) is None


def test_an_absent_file_is_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        Segment.read(tmp_path / "away", 3)
