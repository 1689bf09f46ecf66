"""Held-out splits: every index is on one side, and a seed gives one split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.corpus import hold_out


@given(st.integers(0, 60), st.floats(0, 1), st.integers(0, 9))
def test_each_index_is_on_one_side(count, fraction, seed):
    train, valid = hold_out(count, fraction=fraction, seed=seed)
    assert sorted([*train, *valid]) == list(range(count))
    assert (np.diff(train) > 0).all()
    assert (np.diff(valid) > 0).all()


@pytest.mark.parametrize(
    ("count", "fraction", "size"),
    [(0, 0.1, 0), (1, 0.9, 0), (2, 0.1, 1), (2, 1.0, 1), (50, 0.1, 5), (59, 0.1, 5), (10, 0.3, 3)],
)
def test_the_fraction_is_rounded_down_but_to_no_empty_side(count, fraction, size):
    train, valid = hold_out(count, fraction=fraction)
    assert (len(train), len(valid)) == (count - size, size)


def test_the_split_comes_from_the_seed():
    splits = [hold_out(50, seed=seed)[1].tolist() for seed in (1, 1, 2)]
    assert splits[0] == splits[1] != splits[2]
