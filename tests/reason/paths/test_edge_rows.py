"""Edges by row: all of them, in order, from both sides."""

import numpy as np
from hypothesis import given
from tests.reason.paths.tiny import few, row_edges, triple_sets

from kgraft.reason.paths.edge_rows import PARTS, EdgeRows, row_bounds


@few
@given(triple_sets(least=0))
def test_edges_are_there_from_both_sides(case):
    triples, nodes, _ = case
    edges = EdgeRows.of(*triples.T, nodes)
    assert (len(edges), edges.nodes) == (len(triples), nodes)
    own = row_edges(edges.bounds, edges.neighbour, edges.relation)
    back = row_edges(edges.back_bounds, edges.hearer, edges.back_relation)
    assert sorted(own) == sorted(map(tuple, triples.tolist()))
    assert sorted((node, kind, far) for far, kind, node in back) == sorted(own)
    for column in (own, back):
        ends = [(row, other) for row, _, other in column]
        assert ends == sorted(ends)


@few
@given(triple_sets(least=0))
def test_parts_cover_all_nodes(case):
    triples, nodes, _ = case
    edges = EdgeRows.of(*triples.T, nodes)
    for parts in (edges.parts, edges.back_parts):
        assert len(parts) == PARTS + 1
        assert (parts[0], parts[-1]) == (0, nodes)
        assert (np.diff(parts) >= 0).all()


def test_parts_have_about_as_many_edges():
    random = np.random.default_rng(0)
    node, neighbour = random.integers(200, size=(2, 4000))
    edges = EdgeRows.of(node, np.zeros(4000, np.int64), neighbour, 200)
    sizes = np.diff(edges.bounds[edges.parts])
    assert sizes.max() < 1.2 * 4000 / PARTS


def test_bounds_are_sums_of_lengths():
    assert row_bounds(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert row_bounds(np.zeros(0, np.int64)).tolist() == [0]
