import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.adjacency import TripleArrays, build_adjacency, sort_triples, sorted_columns

ENTITIES, RELATIONS = 6, 3
ENTITY = st.integers(0, ENTITIES - 1)
TRIPLE = st.tuples(ENTITY, st.integers(0, RELATIONS - 1), ENTITY, st.integers(0, 2))
TRIPLES = st.lists(TRIPLE, max_size=25)


def arrays(rows):
    columns = zip(*rows, strict=True) if rows else [[]] * 4
    kinds = (np.int32, np.int32, np.int32, np.int8)
    return TripleArrays(*(np.array(list(c), k) for c, k in zip(columns, kinds, strict=True)))


def rows_of(triples):
    columns = (triples.head, triples.relation, triples.tail, triples.split)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def naive_edges(rows, entity, direction):
    """(relation, far end) of the triples that leave the entity, then of those that come in."""
    out = sorted((r, t) for h, r, t, _ in rows if h == entity)
    into = sorted((r, h) for h, r, t, _ in rows if t == entity)
    return {"out": out, "in": into, "both": out + into}[direction]


@given(TRIPLES, st.sampled_from([(ENTITIES, RELATIONS), (2**31, 2**30)]))
def test_triples_are_sorted_and_each_kept_once_a_split(rows, sizes):
    """The second sizes do not fit in one number and take the other way of sorting."""
    found = sort_triples(arrays(rows), *sizes)
    assert rows_of(found) == sorted(set(rows))
    kinds = [column.dtype for column in (found.head, found.relation, found.tail, found.split)]
    assert kinds == [np.int32, np.int32, np.int32, np.int8]


@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 1)] * 3), max_size=10), st.booleans())
def test_columns_are_sorted_from_left_to_right(rows, wide):
    columns = [np.array([row[place] for row in rows], np.int64) for place in range(3)]
    sizes = [2**31] * 3 if wide else [2**31, 2**31, 2]
    if not wide:
        columns[2] %= 2
    expected = sorted(zip(*(column.tolist() for column in columns), strict=True))
    found = sorted_columns(list(zip(columns, sizes, strict=True)))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@given(rows=TRIPLES, asked=st.lists(ENTITY, max_size=5))
def test_every_entity_has_its_edges(direction, rows, asked):
    triples = sort_triples(arrays(rows), ENTITIES, RELATIONS)
    rows = rows_of(triples)
    adjacency = build_adjacency(triples, ENTITIES)
    assert adjacency.entities == ENTITIES
    assert adjacency.edges.shape == (2 * len(rows), 2)

    expected = [naive_edges(rows, entity, direction) for entity in range(ENTITIES)]
    assert adjacency.degree(direction).tolist() == [len(edges) for edges in expected]
    first, last = adjacency.spans(np.arange(ENTITIES), direction)
    for entity, edges in enumerate(expected):
        found = adjacency.edges[first[entity] : last[entity]]
        assert [tuple(edge) for edge in found.tolist()] == edges

    owner, row = adjacency.rows(np.array(asked, np.int64), direction)
    found = zip(owner.tolist(), adjacency.edges[row].tolist(), strict=True)
    assert [(place, tuple(edge)) for place, edge in found] == [
        (place, edge) for place, entity in enumerate(asked) for edge in expected[entity]
    ]


def test_a_loop_leaves_and_comes_in():
    adjacency = build_adjacency(arrays([(1, 0, 1, 0)]), 3)
    assert adjacency.bounds.tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert adjacency.edges.tolist() == [[0, 1], [0, 1]]


def test_a_graph_without_triples_has_no_edges():
    adjacency = build_adjacency(arrays([]), 4)
    assert adjacency.degree().tolist() == [0, 0, 0, 0]
    assert adjacency.edges.shape == (0, 2)
    assert adjacency.edges.dtype == np.int32


@given(TRIPLES, st.data())
def test_triples_are_taken_by_row_or_by_mask(rows, data):
    triples = arrays(rows)
    mask = np.array([data.draw(st.booleans()) for _ in rows], bool)
    expected = [row for row, keep in zip(rows, mask, strict=True) if keep]
    assert rows_of(triples.take(mask)) == expected
    assert rows_of(triples.take(np.flatnonzero(mask))) == expected
    assert len(triples) == len(rows)


def test_triples_with_inverses():
    held = TripleArrays(*(np.array(c, np.int32) for c in ([0, 2], [1, 0], [3, 4])), np.zeros(2))
    source, relation, target = held.with_inverses(5)
    assert source.tolist() == [0, 2, 3, 4]
    assert relation.tolist() == [1, 0, 6, 5]
    assert target.tolist() == [3, 4, 0, 2]
    assert source.dtype == relation.dtype == target.dtype == np.int64
