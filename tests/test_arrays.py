import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgraft.arrays import expand, rank_within, run_starts

OWNERS = st.lists(st.integers(0, 5), max_size=12).map(sorted)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=6))
def test_expand_lists_every_number_of_every_span(spans):
    first = np.array([start for start, _ in spans], np.int64)
    count = np.array([size for _, size in spans], np.int64)
    owner, number = expand(first, first + count)
    expected = [(i, start + k) for i, (start, size) in enumerate(spans) for k in range(size)]
    assert list(zip(owner.tolist(), number.tolist(), strict=True)) == expected


@given(OWNERS)
def test_rank_within_counts_the_rows_of_each_owner(owners):
    expected = [owners[:row].count(owner) for row, owner in enumerate(owners)]
    assert rank_within(np.array(owners, np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=12))
def test_run_starts_are_where_a_row_differs_from_the_one_before(rows):
    expected = [row == 0 or rows[row] != rows[row - 1] for row in range(len(rows))]
    assert run_starts(*np.array(rows).T).tolist() == expected
