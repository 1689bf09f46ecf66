"""How relations meet, against sets of their ends and pairs."""

import numpy as np
from hypothesis import given
from tests.reason.paths.tiny import edge_list, few, row_edges, triple_sets

from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.relation_graph import FRACTIONS, KINDS, MEETINGS


def naive_meetings(edges, relations):
    """Compare the ends of each two relations, as sets."""
    heads = [{h for h, k, _ in edges if k == relation} for relation in range(relations)]
    tails = [{t for _, k, t in edges if k == relation} for relation in range(relations)]
    pairs = [{(h, t) for h, k, t in edges if k == relation} for relation in range(relations)]
    columns = {
        "head-head": (heads, heads),
        "tail-tail": (tails, tails),
        "head-tail": (heads, tails),
        "tail-head": (tails, heads),
        "pair": (pairs, pairs),
    }
    meetings = []
    for index, name in enumerate(MEETINGS):
        for a, own in enumerate(columns[name][0]):
            for b, other in enumerate(columns[name][1]):
                if a != b and own & other:
                    fraction = len(own & other) / len(own)
                    level = sum(fraction > limit for limit in FRACTIONS)
                    meetings.append((a, index * (len(FRACTIONS) + 1) + level, b))
    return sorted(meetings)


@few
@given(triple_sets(relations=4, most=40))
def test_kinds_are_those_of_sets(case):
    triples, entities, relations = case
    graph = PathGraph.of(triples, entities, relations).relation_edges
    ours = row_edges(graph.bounds, graph.neighbour, graph.relation)
    assert sorted(ours) == naive_meetings(edge_list(triples, relations), 2 * relations)
    assert graph.nodes == 2 * relations
    assert all(0 <= kind < KINDS for _, kind, _ in ours)


def test_a_triple_that_is_there_twice_counts_once():
    once = np.array([[0, 0, 1], [1, 1, 2], [0, 1, 2]])
    twice = np.concatenate([once, once[:2]])
    graphs = [PathGraph.of(triples, 3, 2).relation_edges for triples in (once, twice)]
    rows = [row_edges(graph.bounds, graph.neighbour, graph.relation) for graph in graphs]
    assert rows[0] == rows[1]


def test_no_triples_have_no_meetings():
    assert len(PathGraph.of(np.zeros((0, 3), np.int64), 3, 2).relation_edges) == 0
