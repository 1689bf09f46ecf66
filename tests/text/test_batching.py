import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.text import length_batches

lengths_of = st.lists(st.integers(0, 300), max_size=80).map(np.array)


def padded(lengths, batch):
    return int(lengths[batch].max()) * len(batch)


@given(lengths_of, st.integers(1, 2000), st.none() | st.integers(0, 9))
def test_every_item_once_and_no_batch_above_the_budget(lengths, budget, seed):
    batches = length_batches(lengths, budget, seed=seed)
    items = [int(n) for batch in batches for n in batch]
    assert sorted(items) == list(range(len(lengths)))
    assert all(len(batch) == 1 or padded(lengths, batch) <= budget for batch in batches)


@given(lengths_of, st.integers(1, 2000))
def test_batches_run_from_long_to_short_and_ties_keep_their_order(lengths, budget):
    items = [int(n) for batch in length_batches(lengths, budget) for n in batch]
    assert items == sorted(range(len(lengths)), key=lambda n: -lengths[n])


def test_the_budget_is_used():
    assert [len(batch) for batch in length_batches(np.full(100, 10), 250)] == [25] * 4


def test_an_item_longer_than_the_budget_is_alone():
    assert [batch.tolist() for batch in length_batches(np.array([5, 99, 5]), 10)] == [[1], [0, 2]]


@pytest.mark.parametrize(("count", "waste"), [(300, 1.1), (2000, 1.05)])
def test_little_is_padded(count, waste):
    lengths = np.clip(np.random.default_rng(0).lognormal(3.4, 0.9, count), 3, 256).astype(int)
    batches = length_batches(lengths, 2048)
    assert sum(padded(lengths, batch) for batch in batches) < waste * lengths.sum()


def test_few_items_are_not_scattered():
    assert len(length_batches(np.array([3, 8, 20, 40]), 2048)) == 1


def test_a_seed_mixes_and_repeats():
    lengths = np.tile(np.arange(5, 15), 20)
    plain, one, again, other = (
        [batch.tolist() for batch in length_batches(lengths, 100, seed=seed)]
        for seed in (None, 1, 1, 2)
    )
    assert one == again
    assert len({str(batches) for batches in (plain, one, other)}) == 3
    assert sorted(map(len, one)) == sorted(map(len, plain))


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(BadInput, match="token_budget is 0"):
        length_batches(np.array([1]), 0)
