"""Which end is asked for, and which entities are drawn as wrong ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.embed.tiny import mean_ends

from kgraft.embed.corruption import (
    corrupt_both_sides,
    corrupt_one_side,
    draw_negatives,
    head_corruption_rates,
)
from kgraft.graph import TripleArrays
from kgraft.measure import Queries

RELATIONS = 3
thorough = settings(max_examples=60, deadline=None)
triples = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)),
    min_size=1,
    max_size=30,
    unique=True,
)


def naive_share(rows, relation):
    """Return tph / (tph + hpt) by counting."""
    tph, hpt = mean_ends(rows, relation)
    return tph / (tph + hpt) if tph else 0.0


@thorough
@given(triples)
def test_head_shares_against_counting(rows):
    columns = np.array(rows, np.int32).T
    split = np.zeros(len(rows), np.int8)
    found = head_corruption_rates(Queries.of(TripleArrays(*columns, split), RELATIONS))
    np.testing.assert_allclose(found, [naive_share(rows, r) for r in range(RELATIONS)])


@thorough
@given(triples)
def test_both_ends_are_asked_for(rows):
    expected = [*rows, *((t, r + RELATIONS, h) for h, r, t in rows)]
    assert corrupt_both_sides(np.array(rows), RELATIONS).tolist() == [list(row) for row in expected]


def test_one_end_is_asked_for_by_the_share_of_its_relation():
    rows = np.column_stack([np.arange(9000), np.repeat([0, 1, 2], 3000), np.arange(9000) + 1])
    found = corrupt_one_side(rows, np.array([0.0, 1.0, 0.3]), np.random.default_rng(0))
    back = found[:, 1] >= RELATIONS
    np.testing.assert_array_equal(found[~back], rows[~back])
    np.testing.assert_array_equal(found[back], rows[back][:, ::-1] + [0, RELATIONS, 0])
    assert back[:3000].mean() == 0
    assert back[3000:6000].mean() == 1
    assert back[6000:].mean() == pytest.approx(0.3, abs=0.03)


def test_negatives_are_drawn_evenly_from_all_entities():
    found = draw_negatives(40, 500, 10, np.random.default_rng(0))
    assert found.shape == (40, 500)
    shares = np.bincount(found.ravel(), minlength=10) / found.size
    assert len(shares) == 10
    np.testing.assert_allclose(shares, 0.1, atol=0.01)
    assert len(np.unique(found, axis=0)) == 40  # a chunk has its own
