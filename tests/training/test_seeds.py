"""Streams that belong to a purpose, an epoch or a step."""

import itertools

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.training import stream, torch_stream
from kgraft.training.seeds import seeded, shuffled_batches

WORD = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(seed=st.integers(0, 2**64), path=st.lists(WORD, max_size=4))
def test_a_path_has_one_stream(seed, path):
    draws = stream(seed, *path).integers(2**63, size=5)
    assert (draws == stream(seed, *path).integers(2**63, size=5)).all()
    again = [torch.rand(5, generator=torch_stream(seed, *path)) for _ in range(2)]
    assert torch.equal(*again)


def test_paths_have_streams_of_their_own():
    paths = [p for n in range(4) for p in itertools.product(range(6), repeat=n)]
    numbers = {int(stream(0, *path).integers(2**63)) for path in paths}
    assert len(numbers) == len(paths)
    words = {int(torch_stream(0, *p).initial_seed() & 0xFFFFFFFF) for p in paths}
    assert len(words) == len(paths)


def test_steps_side_by_side_are_independent():
    drawn = np.array([stream(5, step).standard_normal(50) for step in range(400)])  # (400, 50)
    assert abs(drawn.mean()) < 0.03
    assert abs((drawn[1:] * drawn[:-1]).mean()) < 0.03


def test_the_global_generators_are_left_alone():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    torch.rand(3, generator=torch_stream(2, 3))
    assert torch.equal(torch.rand(1), expected)


def test_what_is_drawn_under_a_seed_changes_nothing_after():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with seeded(7):
        one = torch.rand(2)
    with seeded(7):
        assert torch.equal(torch.rand(2), one)
    assert torch.equal(torch.rand(2), expected)


@given(st.integers(1, 50), st.integers(1, 20), st.integers(0, 3))
def test_shuffled_holds_each_number_once(count, size, epoch):
    batches = shuffled_batches(count, size, 7, epoch)
    assert all(0 < len(batch) <= size for batch in batches)
    assert sorted(np.concatenate(batches)) == list(range(count))
    again = shuffled_batches(count, size, 7, epoch)
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in again]
