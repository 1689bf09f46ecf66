import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.graph import paths
from kgraft.graph.adjacency import TripleArrays, build_adjacency, sort_triples
from kgraft.graph.paths import IndexPath, paths_between, reach, subgraph

ENTITIES = 7
ENTITY = st.integers(0, ENTITIES - 1)
TRIPLES = st.lists(st.tuples(ENTITY, st.integers(0, 2), ENTITY), max_size=25)
CORNER = st.integers(0, 4)  # few entities and two relations: many loops and parallel triples
DENSE = st.lists(st.tuples(CORNER, st.integers(0, 1), CORNER), max_size=16)


def build(triples, entities=ENTITIES):
    columns = list(zip(*triples, strict=True)) if triples else [[]] * 3
    head, relation, tail = (np.array(column, np.int32) for column in columns)
    arrays = TripleArrays(head, relation, tail, np.zeros(len(head), np.int8))
    arrays = sort_triples(arrays, entities, 3)
    return arrays, build_adjacency(arrays, entities)


def steps(triples, entity):
    """All (relation, forward, far end) of an entity, without loops."""
    out = [(r, True, t) for h, r, t in set(triples) if h == entity != t]
    return out + [(r, False, h) for h, r, t in set(triples) if t == entity != h]


def naive_paths(triples, start, end, longest):
    """Depth first, no entity twice."""
    found = []

    def walk(entities, relations, forward):
        if entities[-1] == end:
            found.append(IndexPath(entities, relations, forward))
        elif len(relations) < longest:
            for relation, ahead, far in steps(triples, entities[-1]):
                if far not in entities:
                    walk((*entities, far), (*relations, relation), (*forward, ahead))

    if start != end:
        walk((start,), (), ())
    degree = [len([1 for h, _, t in set(triples) for e in (h, t) if e == x]) for x in range(9)]
    return sorted(found, key=lambda path: order_rule(path, degree))


def order_rule(path, degree):
    """Shorter first, then by how common the inner entities are, then by the steps."""
    commonness = sum(math.log1p(degree[entity]) for entity in path.entities[1:-1])
    rest = zip(path.entities[1:], path.relations, path.forward, strict=True)
    return len(path), round(commonness, 9), *rest


@pytest.mark.slow
@given(st.one_of(DENSE, TRIPLES), CORNER, CORNER, st.integers(0, 3))
@settings(max_examples=at_most(250))
def test_paths_are_those_of_a_plain_search(triples, start, end, longest):
    _, adjacency = build(triples)
    found = paths_between(adjacency, start, end, longest=longest, limit=10**6)
    assert found == naive_paths(triples, start, end, longest)


@given(DENSE, CORNER, CORNER, st.integers(0, 6))
def test_a_limit_keeps_the_first_paths(triples, start, end, limit):
    _, adjacency = build(triples)
    expected = naive_paths(triples, start, end, 3)[:limit]
    assert paths_between(adjacency, start, end, limit=limit) == expected


@given(DENSE, CORNER, CORNER)
def test_the_facts_of_a_path_are_triples_that_lead_from_its_start_to_its_end(triples, start, end):
    _, adjacency = build(triples)
    for path in paths_between(adjacency, start, end):
        entity = start
        for head, relation, tail in path.facts():
            assert (head, relation, tail) in triples
            assert entity in (head, tail)
            entity = head if entity == tail else tail
        assert entity == end


def test_paths_through_rare_entities_come_first():
    """0 and 1 meet in 2, which everybody knows, and in 3, which nobody else does."""
    crowd = [(2, 0, other) for other in range(4, 9)]
    _, adjacency = build([(0, 0, 2), (2, 0, 1), (0, 0, 3), (1, 1, 3), *crowd], 9)
    assert paths_between(adjacency, 0, 1) == [
        IndexPath((0, 3, 1), (0, 1), (True, False)),
        IndexPath((0, 2, 1), (0, 0), (True, True)),
    ]
    assert len(paths_between(adjacency, 0, 1)[0]) == 2


def test_every_relation_and_direction_between_two_entities_is_a_path():
    _, adjacency = build([(0, 1, 1), (1, 1, 0), (0, 0, 1), (0, 2, 0)])
    assert paths_between(adjacency, 0, 1) == [
        IndexPath((0, 1), (0,), (True,)),
        IndexPath((0, 1), (1,), (False,)),
        IndexPath((0, 1), (1,), (True,)),
    ]


@pytest.mark.parametrize("ends", [(0, 1), (1, 0)])
@pytest.mark.parametrize("crowd", [[], [(2, 0, 3), (2, 0, 4)]])
def test_no_path_passes_its_ends_or_an_entity_twice(ends, crowd):
    loops = [(entity, 0, entity) for entity in (0, 1, 2)]
    _, adjacency = build([(0, 0, 1), (1, 0, 2), *loops, *crowd])
    assert [path.entities for path in paths_between(adjacency, *ends)] == [ends]


def test_hubs_beyond_the_edges_we_look_at_are_left_out(monkeypatch):
    """Between the neighbours of 0 and of 1 lie 2–4 and 3–4; only 2 is rare enough."""
    triples = [(0, 0, 2), (0, 0, 3), (2, 0, 4), (3, 0, 4), (4, 0, 1), (3, 0, 5), (4, 0, 6)]
    _, adjacency = build([*triples, (4, 1, 6), (4, 2, 6), (4, 1, 5)])
    assert len(paths_between(adjacency, 0, 1)) == 2
    monkeypatch.setattr(paths, "_MOST_EDGES", 2)
    assert [path.entities for path in paths_between(adjacency, 0, 1)] == [(0, 2, 4, 1)]


def naive_reach(triples, roots, hops, most=10**9):
    members, frontier = set(roots), set(roots)
    for _ in range(hops):
        beyond = {far for e in frontier for _, _, far in steps(triples, e)} - members
        frontier = set(sorted(beyond)[: max(0, most - len(members))])
        members |= frontier
    return sorted(members)


@given(TRIPLES, st.lists(ENTITY, max_size=3), st.integers(0, 4), st.integers(0, 8))
def test_reach_is_that_of_a_plain_search(triples, roots, hops, most):
    _, adjacency = build(triples)
    found = reach(adjacency, np.array(roots, np.int64), hops, most=most)
    assert found.tolist() == naive_reach(triples, roots, hops, most)


@given(TRIPLES, st.lists(ENTITY, max_size=3), st.integers(0, 3))
def test_a_subgraph_holds_all_triples_among_its_entities(triples, roots, hops):
    arrays, adjacency = build(triples)
    found = subgraph(adjacency, arrays, np.array(roots, np.int64), hops)
    members = naive_reach(triples, roots, hops)
    assert found.entities.tolist() == members
    columns = (found.triples.head, found.triples.relation, found.triples.tail)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == sorted({t for t in triples if t[0] in members and t[2] in members})


def test_most_keeps_the_nearest_entities():
    """A chain with a fork: 0–1, 1–{2, 3}, 3–4."""
    arrays, adjacency = build([(0, 0, 1), (1, 0, 2), (1, 0, 3), (3, 0, 4)])

    def kept(most):
        return subgraph(adjacency, arrays, np.array([0]), 9, most=most).entities.tolist()

    assert [kept(most) for most in (1, 2, 3, 4, 9)] == [
        [0],
        [0, 1],
        [0, 1, 2],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
    ]


def test_paths_and_subgraphs_by_id(small):
    """Paris is capital of and located in France, which borders Germany in both directions."""
    found = small.paths("Q1", "Q5")
    assert [[entity.id for entity in path.entities] for path in found] == [["Q1", "Q4", "Q5"]] * 4
    assert small.subgraph(["Q4"], hops=1).entities.tolist() == [0, 3, 4, 10]
