"""Balls against a breadth-first search; the network on them against that on the whole graph."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reason.paths.naive import distances, naive_states, without_fact
from tests.reason.paths.tiny import edge_list, few, path_graphs, random_graph

from kgraft.reason.paths.balls import draw_balls
from kgraft.reason.paths.network import EntityNetwork

STEPS = 3


@st.composite
def cases(draw):
    """Draw a graph and queries: heads with a fact that is hidden, of the graph or not."""
    graph = draw(path_graphs(entities=12))
    facts = st.sampled_from(edge_list(graph.triples, graph.relations))
    others = st.tuples(
        st.integers(0, graph.entities - 1),
        st.integers(0, 2 * graph.relations - 1),
        st.integers(0, graph.entities - 1),
    )
    return graph, draw(st.lists(facts | others, min_size=1, max_size=4))


def balls_of(graph, facts, *, hidden=True, **options):
    entity, kind, answer = np.array(facts).T
    asked = {"asked": kind, "answer": answer} if hidden else {}
    return draw_balls(graph.edges, graph.relations, entity, steps=STEPS, **asked, **options)


def naive_edges(graph, fact, *, hidden=True):
    edges = edge_list(graph.triples, graph.relations)
    return without_fact(edges, graph.relations, fact) if hidden else edges


@pytest.mark.parametrize("hidden", [False, True])
@few
@given(case=cases())
def test_members_are_those_of_a_search(case, hidden):
    graph, facts = case
    balls = balls_of(graph, facts, hidden=hidden)
    steps = []
    for index, fact in enumerate(facts):
        near = distances(naive_edges(graph, fact, hidden=hidden), fact[0], STEPS)
        own = balls.entity[balls.query == index].tolist()
        assert sorted(own) == sorted(near)
        assert [near[e] for e in own] == sorted(near.values())
        steps += near.values()
    assert balls.rows == [sum(step <= t for step in steps) for t in range(STEPS + 1)]
    assert balls.query[: len(facts)].tolist() == list(range(len(facts)))
    assert balls.entity[: len(facts)].tolist() == [fact[0] for fact in facts]
    assert not balls.was_cut.any()


@pytest.mark.parametrize("hidden", [False, True])
@few
@given(case=cases())
def test_edges_are_those_along_which_something_can_come(case, hidden):
    graph, facts = case
    balls = balls_of(graph, facts, hidden=hidden)
    row = {
        (query, entity): index
        for index, (query, entity) in enumerate(
            zip(balls.query.tolist(), balls.entity.tolist(), strict=True)
        )
    }
    expected = []
    for b, fact in enumerate(facts):
        edges = naive_edges(graph, fact, hidden=hidden)
        near = distances(edges, fact[0], STEPS)
        first = 2 * graph.relations * b
        expected += [
            (row[b, v], first + kind, row[b, x])
            for v, kind, x in edges
            if near.get(x, STEPS) < STEPS
        ]
    node = np.repeat(np.arange(len(balls.entity)), np.diff(balls.edges.bounds))
    own = list(zip(node, balls.edges.relation, balls.edges.neighbour, strict=True))
    assert sorted(own) == sorted(expected)
    far = np.repeat(np.arange(len(balls.entity)), np.diff(balls.edges.back_bounds))
    back = list(zip(balls.edges.hearer, balls.edges.back_relation, far, strict=True))
    assert sorted(back) == sorted(expected)
    for ends in (zip(node, balls.edges.neighbour), zip(far, balls.edges.hearer)):  # noqa: B905
        pairs = list(ends)
        assert pairs == sorted(pairs)


@pytest.mark.parametrize("most", [1, 4, 9])
@few
@given(case=cases())
def test_the_nearest_are_kept(case, most):
    graph, facts = case
    balls = balls_of(graph, facts, most=most)
    for index, fact in enumerate(facts):
        near = distances(naive_edges(graph, fact), fact[0], STEPS)
        own = balls.entity[balls.query == index].tolist()
        assert len(own) == len(set(own)) == min(len(near), most)
        assert bool(balls.was_cut[index]) == (len(near) > most)
        outside = [step for entity, step in near.items() if entity not in own]
        assert max(near[e] for e in own) <= min(outside, default=STEPS)


def test_without_training_the_edges_have_one_side():
    graph = random_graph(0)
    facts = [(0, 0, 1), (3, 2, 4)]
    one, both = (balls_of(graph, facts, for_training=training) for training in (False, True))
    for name in ("bounds", "neighbour", "relation"):
        np.testing.assert_array_equal(getattr(one.edges, name), getattr(both.edges, name))
    assert not len(one.edges.hearer)


def masked_states(network, graph, facts, query, vectors):
    """Return the states of the whole graph for each query, (B, N, D)."""
    return torch.stack(
        [
            naive_states(
                network.layers,
                query[index],
                vectors[index],
                naive_edges(graph, fact),
                fact[0],
                graph.entities,
            )
            for index, fact in enumerate(facts)
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_on_balls_the_network_does_what_it_does_on_the_whole_graph(seed):
    graph = random_graph(seed, entities=24, triples=30)
    edges = edge_list(graph.triples, graph.relations)
    facts = [edges[0], edges[7], edges[-1], (0, 1, 0)]
    torch.manual_seed(seed)
    network = EntityNetwork(8, STEPS)
    query = torch.randn(len(facts), 8)
    vectors = torch.randn(len(facts), 2 * graph.relations, 8, requires_grad=True)
    balls = balls_of(graph, facts)
    states = network(query[None], vectors.reshape(1, -1, 8), balls.edges, balls.rows[1:])[0]
    rows = torch.from_numpy(balls.query).long(), torch.from_numpy(balls.entity).long()
    expected = masked_states(network, graph, facts, query, vectors)[rows]
    torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-4)
    weight = torch.arange(1.0, states.numel() + 1).sin().view_as(states)
    ours, theirs = (
        torch.autograd.grad((s * weight).sum(), [vectors, *network.parameters()])
        for s in (states, expected)
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)
