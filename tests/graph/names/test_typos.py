"""Names with typos: edit distances as the recurrence gives them, and none missed by the filter."""

from functools import cache

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kgraft.columns import StringColumn
from kgraft.graph.names.typos import EDITS, SimilarNames, edit_distances

NAME = st.text("abcé😀 ", max_size=9)


def naive_distance(x, y):
    """Return the optimal string alignment distance by its recurrence."""

    @cache
    def d(i, j):
        if i == 0 or j == 0:
            return i + j
        best = min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (x[i - 1] != y[j - 1]))
        if i > 1 and j > 1 and x[i - 1] == y[j - 2] and x[i - 2] == y[j - 1]:
            best = min(best, d(i - 2, j - 2) + 1)
        return best

    return d(len(x), len(y))


@given(NAME, st.lists(NAME, max_size=6), st.integers(0, 3))
def test_distances_are_those_of_the_recurrence(name, others, most):
    expected = [min(naive_distance(name, other), most + 1) for other in others]
    assert edit_distances(name, others, most=most).tolist() == expected


@given(st.lists(NAME.filter(bool), max_size=8, unique=True), NAME)
def test_all_names_within_the_edits_are_found(names, name):
    column = pa.chunked_array([names[:3], names[3:]], pa.string())
    rows, distance = SimilarNames(StringColumn(column)).find(name)
    most = next((edits for length, edits in EDITS if len(name) >= length), 0)
    expected = {row: naive_distance(name, other) for row, other in enumerate(names)}
    found = dict(zip(rows.tolist(), distance.tolist(), strict=True))
    assert found == {row: d for row, d in expected.items() if 0 < d <= most}


def test_without_names_nothing_is_similar():
    rows, distance = SimilarNames(StringColumn(pa.chunked_array([], pa.string()))).find("berlin")
    assert (len(rows), len(distance)) == (0, 0)
    assert rows.dtype == np.int64
