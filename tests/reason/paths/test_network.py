"""Bellman-Ford networks against their formula, node by node."""

import torch
from tests.reason.paths.naive import naive_states
from tests.reason.paths.tiny import edge_list, random_graph, row_edges

from kgraft.reason.paths.network import EntityNetwork, RelationNetwork, Update
from kgraft.reason.paths.relation_graph import KINDS


def test_an_update_is_that_of_the_formula():
    torch.manual_seed(0)
    update = Update(4)
    states, arrived = torch.randn(2, 2, 3, 4)
    mixed = update.layer_norm(update.linear(torch.cat([states, arrived], dim=-1)))
    torch.testing.assert_close(update(states, arrived), torch.relu(mixed) + states)


def test_relations_hear_of_the_asked_one():
    graph = random_graph(0, entities=12, triples=20)
    torch.manual_seed(0)
    network = RelationNetwork(6, 3, KINDS)
    asked, size = torch.tensor([0, 2]), 2 * graph.relations
    vectors = network(asked, graph.relation_edges)
    assert vectors.shape == (2, size, 6)
    rows = graph.relation_edges
    edges = row_edges(rows.bounds, rows.neighbour, rows.relation)
    for own, relation in zip(vectors, asked.tolist(), strict=True):
        start = torch.zeros(size, 6)
        start[relation] = 1
        states = start
        for layer in network.layers:
            arrived = start.clone()
            for node, kind, neighbour in edges:
                arrived[node] = arrived[node] + states[neighbour] * layer.relation[kind]
            states = layer(states, arrived)
        torch.testing.assert_close(own, states, rtol=1e-4, atol=1e-4)


def test_a_trace_has_what_each_layer_worked_with():
    graph = random_graph(1, entities=12, triples=30)
    torch.manual_seed(0)
    network = EntityNetwork(6, 2)
    query, vectors = torch.randn(6), torch.randn(2 * graph.relations, 6)
    rows, trace = [graph.entities] * 2, []
    start = torch.zeros(1, graph.entities, 6)
    start[0, 3] = query
    states = network(start, vectors[None], graph.edges, rows, trace)
    edges = edge_list(graph.triples, graph.relations)
    assert len(trace) == 2
    before = start
    for layer, (given, sent, arrived) in zip(network.layers, trace, strict=True):
        torch.testing.assert_close(given, before)
        torch.testing.assert_close(sent[0], layer.relation_projection(vectors))
        expected = torch.zeros_like(arrived)
        for node, kind, neighbour in edges:
            expected[0, node] = expected[0, node] + given[0, neighbour] * sent[0, kind]
        torch.testing.assert_close(arrived, expected, rtol=1e-4, atol=1e-4)
        before = layer(given, arrived + start)
    torch.testing.assert_close(states, before)


def test_entities_that_no_path_reaches_are_not_worked_on():
    """Rows of states end with the entities that are reached; nothing is added for the others."""
    graph = random_graph(2, entities=12, triples=30)
    torch.manual_seed(0)
    network = EntityNetwork(6, 1)
    query, vectors = torch.randn(6), torch.randn(2 * graph.relations, 6)
    states = network(query[None, None], vectors[None], graph.edges, [5])
    edges = edge_list(graph.triples, graph.relations)
    full = naive_states(network.layers, query, vectors, edges, 0, graph.entities)
    near = full.abs().sum(1) > 0
    torch.testing.assert_close(states[0][near[:5]], full[:5][near[:5]])
    assert states.shape == (1, 5, 6)
