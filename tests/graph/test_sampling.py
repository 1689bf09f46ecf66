from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.adjacency import TripleArrays, build_adjacency, sort_triples
from kgraft.graph.sampling import _spread, random_walks, sample_neighbourhood

ENTITIES = 6
ENTITY = st.integers(0, ENTITIES - 1)
TRIPLES = st.lists(st.tuples(ENTITY, st.integers(0, 2), ENTITY), max_size=30)
ROOTS = st.lists(ENTITY, max_size=5)
DIRECTION = st.sampled_from(["out", "in", "both"])


def adjacency_of(triples, entities=ENTITIES):
    columns = list(zip(*triples, strict=True)) if triples else [[]] * 3
    head, relation, tail = (np.array(column, np.int32) for column in columns)
    arrays = TripleArrays(head, relation, tail, np.zeros(len(head), np.int8))
    return build_adjacency(sort_triples(arrays, entities, 3), entities)


def star(leaves):
    return adjacency_of([(0, 0, leaf) for leaf in range(1, leaves + 1)], leaves + 1)


def edges_of(triples, entity, direction):
    """All (relation, far end, forward) of an entity."""
    out = [(r, t, True) for h, r, t in set(triples) if h == entity]
    into = [(r, h, False) for h, r, t in set(triples) if t == entity]
    return {"out": out, "in": into, "both": out + into}[direction]


@given(TRIPLES, ROOTS, st.lists(st.integers(1, 4), max_size=3), DIRECTION, st.integers(0, 9))
def test_every_hop_samples_edges_of_the_hop_before(triples, roots, fan_out, direction, seed):
    adjacency = adjacency_of(triples)
    hops = sample_neighbourhood(
        adjacency, np.array(roots, np.int64), fan_out, seed=seed, direction=direction
    )
    assert len(hops) == len(fan_out)
    frontier = roots
    for hop, size in zip(hops, fan_out, strict=True):
        columns = (hop.source, hop.relation, hop.target, hop.forward)
        sampled = list(zip(*(column.tolist() for column in columns), strict=True))
        for place, entity in enumerate(frontier):
            chosen = [edge for source, *edge in sampled if source == place]
            every = edges_of(triples, entity, direction)
            assert len(chosen) == min(size, len(every))
            assert {tuple(edge) for edge in chosen} <= set(every)
            assert len({tuple(edge) for edge in chosen}) == len(chosen)
        assert len(sampled) == sum(
            min(size, len(edges_of(triples, entity, direction))) for entity in frontier
        )
        frontier = hop.target.tolist()


@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 9))
def test_chosen_numbers_are_below_the_degree_and_differ(size, extra, seed):
    degree = np.array([size + extra, size + 1, size + 2 * extra])
    chosen = _spread(degree, size, np.random.SFC64(seed))
    assert chosen.shape == (3, size)
    assert (chosen < degree[:, None]).all()
    assert all(len(set(row)) == size for row in chosen.tolist())


@pytest.mark.parametrize(("degree", "size"), [(5, 1), (7, 3), (11, 10), (49, 48)])
def test_every_edge_is_chosen_equally_often(degree, size):
    """p = size / degree, so that n rounds give n·p ± √(n·p·(1 - p)) of each."""
    rounds = 4000
    hop = sample_neighbourhood(star(degree), np.zeros(rounds, int), [size], seed=1)[0]
    times = np.bincount(hop.target, minlength=degree + 1)[1:]
    expected = rounds * size / degree
    assert times.sum() == rounds * size
    deviation = np.abs(times - expected) / np.sqrt(expected * (1 - size / degree))
    assert deviation.max() < 4


def test_a_sample_is_spread_over_the_sorted_edges():
    """Ten of a hundred: any twenty edges in a row hold at least one."""
    for seed in range(20):
        hop = sample_neighbourhood(star(100), np.array([0]), [10], seed=seed)[0]
        ordered = np.sort(hop.target)
        gaps = np.diff(np.append(ordered, ordered[0] + 100))
        assert gaps.max() < 20


def test_a_seed_gives_the_same_sample_on_every_machine():
    hops = sample_neighbourhood(star(1000), np.array([0, 0]), [3, 1], seed=7)
    assert hops[0].target.tolist() == [913, 935, 256, 734, 108, 325]
    assert hops[1].target.tolist() == [0] * 6
    walk = random_walks(star(1000), np.array([0, 0, 5]), 3, seed=7)
    assert walk.entities.tolist() == [[0, 21, 0, 673], [0, 596, 0, 911], [5, 0, 614, 0]]


def test_another_seed_gives_another_sample():
    def targets(seed):
        hop = sample_neighbourhood(star(1000), np.array([0]), [5], seed=seed)[0]
        return tuple(hop.target.tolist())

    assert targets(3) == targets(3)
    assert len({targets(seed) for seed in range(20)}) == 20


def test_an_entity_reached_twice_is_expanded_twice():
    adjacency = adjacency_of([(0, 0, 1), (1, 0, 2), (1, 0, 3)])
    hops = sample_neighbourhood(adjacency, np.array([0, 0]), [2, 2], seed=0, direction="out")
    assert hops[0].source.tolist() == [0, 1]
    assert hops[1].source.tolist() == [0, 0, 1, 1]
    assert hops[1].target.tolist() == [2, 3, 2, 3]


@pytest.mark.parametrize("triples", [[], [(0, 0, 1)]])
def test_without_edges_or_roots_nothing_is_sampled(triples):
    for roots in ([], [3]):
        hops = sample_neighbourhood(adjacency_of(triples), np.array(roots, int), [2, 2], seed=0)
        assert [len(hop.target) for hop in hops] == [0, 0]


@given(TRIPLES, ROOTS, st.integers(0, 4), DIRECTION, st.integers(0, 9))
def test_walks_step_along_edges_until_there_is_none(triples, roots, length, direction, seed):
    walks = random_walks(
        adjacency_of(triples), np.array(roots, np.int64), length, seed=seed, direction=direction
    )
    assert walks.entities.shape == (len(roots), length + 1)
    assert walks.relations.shape == walks.forward.shape == (len(roots), length)
    assert walks.entities[:, 0].tolist() == roots
    for entities, relations, forward in zip(
        walks.entities.tolist(), walks.relations.tolist(), walks.forward.tolist(), strict=True
    ):
        for step in range(length):
            edge = (relations[step], entities[step + 1], forward[step])
            possible = edges_of(triples, entities[step], direction)
            assert edge in possible if possible else edge == (-1, -1, False)


def test_a_walk_takes_every_edge_equally_often():
    walks = random_walks(star(4), np.zeros(4000, int), 1, seed=2)
    times = Counter(walks.entities[:, 1].tolist())
    assert set(times) == {1, 2, 3, 4}
    assert all(abs(count - 1000) < 4 * np.sqrt(750) for count in times.values())
