"""Edges in both directions, and sums over the relations that an entity has."""

import numpy as np
import torch
from hypothesis import given
from tests.embed.tiny import build
from tests.reason.paths.tiny import edge_list, few, path_graphs, row_edges

from kgraft.reason.paths.path_graph import PathGraph


@few
@given(path_graphs())
def test_each_triple_is_two_edges(graph):
    edges = row_edges(graph.edges.bounds, graph.edges.neighbour, graph.edges.relation)
    assert sorted(edges) == sorted(edge_list(graph.triples, graph.relations))


@few
@given(path_graphs())
def test_relations_are_counted_and_summed(graph):
    counts = np.zeros((graph.entities, 2 * graph.relations))
    for node, kind, _ in edge_list(graph.triples, graph.relations):
        counts[node, kind] += 1
    np.testing.assert_array_equal(graph.relation_counts.toarray(), counts)
    weights = torch.from_numpy(np.log1p(counts)).float()
    degrees = torch.from_numpy(np.log1p(counts.sum(1))).float()
    torch.testing.assert_close(graph.degree_weights, degrees)
    torch.manual_seed(0)
    vectors = torch.randn(2 * graph.relations, 4, requires_grad=True)
    slope = torch.randn(graph.entities, 4)
    sums = graph.relation_sums(vectors)
    torch.testing.assert_close(sums, weights @ vectors)
    ours = torch.autograd.grad((sums * slope).sum(), vectors)
    torch.testing.assert_close(ours[0], weights.T @ slope)


def test_triples_of_a_graph(tmp_path):
    graph = build(tmp_path / "graph", [("a", "r", "b"), ("b", "s", "c"), ("a", "r", "c")])
    paths = PathGraph.of_arrays(graph.triples, 3, 2)
    index = {name: graph.index(name) for name in "abc"}
    kinds = {name: graph.relation(name).index for name in "rs"}
    expected = {
        (index[h], kinds[r], index[t])
        for h, r, t in [("a", "r", "b"), ("b", "s", "c"), ("a", "r", "c")]
    }
    assert set(map(tuple, paths.triples.tolist())) == expected
    assert (paths.entities, paths.relations) == (3, 2)
