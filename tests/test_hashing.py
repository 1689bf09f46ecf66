import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft import hashing
from kgraft.hashing import HashIndex, distinct_hashes, hash_segments, hash_strings, mix, multiplier

WORD = st.integers(0, 2**64 - 1)
MASK = 2**64 - 1


def naive_mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def naive_hash(values, seed):
    """mix(n + Σₖ (xₖ + 1)·Bᵏ⁺¹) modulo 2⁶⁴."""
    base = naive_mix(seed + 0x9E3779B97F4A7C15) | 1
    terms = ((x + 1) * base ** (k + 1) for k, x in enumerate(values))
    return naive_mix((len(values) + sum(terms)) & MASK)


@given(st.lists(WORD, max_size=5))
def test_mix_is_splitmix64(values):
    assert mix(np.array(values, np.uint64)).tolist() == [naive_mix(x) for x in values]


def test_hashes_are_the_same_on_every_machine():
    assert hash_strings(pa.array(["", "Paris"])).tolist() == [0, 8053983132738344585]


@given(st.lists(st.lists(WORD, max_size=4), max_size=5), st.integers(0, 99), st.integers(0, 3))
def test_segments_hash_by_the_formula(segments, seed, skipped):
    values = np.array([7] * skipped + [x for part in segments for x in part], np.uint64)
    bounds = np.cumsum([skipped, *(len(part) for part in segments)])
    expected = [naive_hash(part, seed) for part in segments]
    assert hash_segments(values, bounds, seed).tolist() == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=6))
def test_strings_hash_by_their_bytes_however_they_are_cut(texts):
    expected = [naive_hash(text.encode(), 3) for text in texts]
    whole = pa.array(texts, pa.string())
    pieces = [whole.slice(0, 2), whole.slice(2, 0), whole.slice(2)]
    assert hash_strings(whole, 3).tolist() == expected
    assert hash_strings(whole.cast(pa.large_string()), 3).tolist() == expected
    assert hash_strings(pa.chunked_array(pieces), 3).tolist() == expected
    assert hash_strings(whole.slice(1), 3).tolist() == expected[1:]


def test_no_strings_have_no_hashes():
    assert hash_strings(pa.chunked_array([], pa.string())).tolist() == []


def test_multiplier_is_odd_and_differs_by_seed():
    found = {int(multiplier(seed)) for seed in range(100)}
    assert len(found) == 100
    assert all(number % 2 for number in found)


TOPS = st.sampled_from([0, 1, 2**63, 2**64 - 2**8])
CROWDED = st.builds(lambda top, low: top | low, TOPS, st.integers(0, 255))


@given(st.sets(st.one_of(WORD, CROWDED), max_size=60), st.lists(st.one_of(WORD, CROWDED)))
def test_index_finds_every_key_and_no_other(keys, others):
    ascending = sorted(keys)
    index = HashIndex.build(np.array(ascending, np.uint64))
    place = {key: row for row, key in enumerate(ascending)}
    wanted = [*ascending[::-1], *others]
    expected = [place.get(key, -1) for key in wanted]
    assert index.find(np.array(wanted, np.uint64)).tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 1000])
def test_index_of_every_size(size):
    keys = np.sort(mix(np.arange(size)))
    index = HashIndex.build(keys)
    assert index.find(keys).tolist() == list(range(size))
    assert (index.find(mix(np.arange(size, 2 * size + 5))) == -1).all()


def test_buckets_of_the_index_stay_small():
    sizes = np.diff(HashIndex.build(np.sort(mix(np.arange(5000)))).buckets)
    assert sizes.sum() == 5000
    assert sizes.max() < 5 * hashing._BUCKET_SIZE


def test_distinct_hashes_takes_the_first_seed_without_a_clash():
    tried = []

    def make(seed):
        tried.append(seed)
        return np.array([1, 1 if seed < 3 else 2])

    assert distinct_hashes(make, lambda made: made).tolist() == [1, 2]
    assert tried == [0, 1, 2, 3]


def test_items_that_are_not_distinct_are_refused():
    twice = pa.array(["a", "a"])
    with pytest.raises(ValueError, match="not distinct"):
        distinct_hashes(lambda seed: hash_strings(twice, seed), lambda made: made)
