"""Paths that are shown: chains of facts of the graph, and the slopes that choose them."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.reason.paths.naive import distances, naive_states, without_fact
from tests.reason.paths.tiny import TINY, edge_list, few, path_graphs, random_graph, tiny_reasoner

from kgraft.reason.paths.balls import draw_balls
from kgraft.reason.paths.explain import LEAST, best_chains, edge_importance, find_paths

STEPS = TINY.entity_layers


@st.composite
def cases(draw):
    """Draw a graph and a fact to explain, of the graph or not."""
    graph = draw(path_graphs(entities=9))
    ends = st.integers(0, graph.entities - 1)
    others = st.tuples(ends, st.integers(0, 2 * graph.relations - 1), ends)
    facts = st.sampled_from(edge_list(graph.triples, graph.relations))
    return graph, draw(facts | others)


def as_triple(fact, relations):
    entity, kind, answer = fact
    return fact if kind < relations else (answer, kind - relations, entity)


def ball_of(graph, fact):
    entity, kind, answer = (np.array([column]) for column in fact)
    return draw_balls(graph.edges, graph.relations, entity, steps=STEPS, asked=kind, answer=answer)


def ball_edges(balls):
    """Return (node, kind, neighbour) of the edges of a ball, as rows of it."""
    node = np.repeat(np.arange(balls.edges.nodes), np.diff(balls.edges.bounds))
    columns = node, balls.edges.relation, balls.edges.neighbour
    return list(zip(*(column.tolist() for column in columns), strict=True))


@few
@given(cases(), st.integers(1, 3))
def test_every_path_is_a_chain_of_facts_of_the_graph(case, limit):
    graph, fact = case
    entity, _, answer = fact
    triples = set(map(tuple, graph.triples.tolist()))
    paths = find_paths(tiny_reasoner(), graph, *fact, limit=limit)
    assert len(paths) <= limit
    assert len({path.facts for path in paths}) == len(paths)
    assert [path.importance for path in paths] == sorted(
        (path.importance for path in paths), reverse=True
    )
    for path in paths:
        assert 1 <= len(path.facts) <= STEPS
        passed = [entity]
        for head, relation, tail in path.facts:
            assert (head, relation, tail) in triples
            assert (head, relation, tail) != as_triple(fact, graph.relations)
            assert passed[-1] in (head, tail)
            passed.append(tail if passed[-1] == head else head)
        assert passed[-1] == answer
        assert len(set(passed)) == len(passed)


@few
@given(cases())
def test_without_a_path_there_is_none(case):
    graph, fact = case
    edges = without_fact(edge_list(graph.triples, graph.relations), graph.relations, fact)
    assume(fact[2] not in distances(edges, fact[0], STEPS) or fact[0] == fact[2])
    assert find_paths(tiny_reasoner(), graph, *fact) == []


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_importance_is_the_slope_in_the_weight_of_an_edge(seed):
    graph = random_graph(seed, entities=7, triples=12)
    reasoner, exact = tiny_reasoner(seed), tiny_reasoner(seed).double()
    fact = edge_list(graph.triples, graph.relations)[seed]
    balls = ball_of(graph, fact)
    row = balls.entity.tolist().index(fact[2])
    importance = edge_importance(reasoner, graph, balls, fact[1], row)
    edges = without_fact(edge_list(graph.triples, graph.relations), graph.relations, fact)
    with torch.no_grad():
        vectors = deepcopy(reasoner).relation_vectors(
            graph, torch.tensor([fact[1] % graph.relations])
        )[0]

    @torch.no_grad()
    def score(weights):
        query = vectors[fact[1]].double()
        states = naive_states(
            exact.entities.layers, query, vectors.double(), edges, fact[0], graph.entities, weights
        )
        return float(exact.path_score(torch.cat([states[fact[2]], query])))

    slopes = {}
    for index, edge in enumerate(edges):
        step = torch.zeros(len(edges), dtype=torch.float64)
        step[index] = 1e-5
        slopes[edge] = (score(1 + step) - score(1 - step)) / 2e-5
    entity = balls.entity.tolist()
    for own, (node, kind, far) in zip(importance, ball_edges(balls), strict=True):
        slope = slopes.pop((entity[node], kind, entity[far]))
        assert own == pytest.approx(max(slope, 0), rel=1e-3, abs=1e-5)
    assert max(map(abs, slopes.values()), default=0) < 1e-9  # nothing comes along other edges
    assert importance.max() > 0


def naive_walks(edges, row, length):
    """Return all walks of a length from the head, row 0, to a row, as lists of edges."""
    walks = [([], 0)]
    for _ in range(length):
        walks = [
            ([*walk, index], node)
            for walk, end in walks
            for index, (node, _, far) in enumerate(edges)
            if far == end
        ]
    return [walk for walk, end in walks if end == row]


@few
@given(cases(), st.integers(0, 99))
def test_the_best_chain_of_each_length_is_chosen(case, seed):
    graph, fact = case
    balls = ball_of(graph, fact)
    edges = ball_edges(balls)
    assume(fact[2] in balls.entity and len(edges) <= 24)
    row = balls.entity.tolist().index(fact[2])
    importance = np.random.default_rng(seed).random(len(edges))
    chains = best_chains(balls, importance, row, STEPS)
    expected = []
    for length in range(1, STEPS + 1):
        walks = naive_walks(edges, row, length)
        if walks:
            best = max(walks, key=lambda walk: np.log(importance[walk] + LEAST).sum())
            rows = [0, *(edges[edge][0] for edge in best)]
            if len(set(rows)) == len(rows):
                expected.append((best, np.log(importance[best] + LEAST).mean()))
    assert [chain for chain, _ in chains] == [chain for chain, _ in expected]
    assert [mean for _, mean in chains] == pytest.approx([mean for _, mean in expected])
