"""Pieces of graphs: connected, limited, renumbered, and the same ones by the same generator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reason.paths.tiny import few, path_graphs, random_graph, triple_sets

from kgraft.reason.paths import pieces
from kgraft.reason.paths.pieces import alter_relations, draw_members, draw_piece


def components(triples, members):
    """Return which members are connected by triples between them."""
    label = {member: member for member in members}
    for _ in members:
        for h, _, t in triples.tolist():
            if h in label and t in label:
                label[h] = label[t] = min(label[h], label[t])
    return label


@few
@given(path_graphs(entities=14), st.integers(1, 14), st.integers(0, 99))
def test_members_are_as_many_as_are_asked_for(graph, size, seed):
    members = draw_members(graph.edges, size, np.random.default_rng(seed))
    connected = {entity for h, _, t in graph.triples.tolist() for entity in (h, t)}
    assert set(members.tolist()) <= connected
    assert len(members) == min(size, len(connected))
    assert (np.diff(members) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_members_are_connected(seed):
    ring = np.array([(n, 0, (n + 1) % 40) for n in range(40)])
    graph = pieces.PathGraph.of(ring, 40, 1)
    members = draw_members(graph.edges, 9, np.random.default_rng(seed)).tolist()
    assert len(set(components(ring, members).values())) == 1


def test_of_a_hub_some_neighbours_are_taken():
    star = np.array([(0, 0, n) for n in range(1, 200)])
    graph = pieces.PathGraph.of(star, 200, 1)
    members = draw_members(graph.edges, 100, np.random.default_rng(0))
    assert len(members) == 100
    assert 0 in members


@pytest.fixture
def unaltered(monkeypatch):
    for name in ("MIRRORED", "TURNED", "MERGED"):
        monkeypatch.setattr(pieces, name, 0.0)


@pytest.mark.usefixtures("unaltered")
@pytest.mark.parametrize("seed", range(10))
def test_a_piece_has_all_triples_between_its_members(seed):
    graph = random_graph(seed, entities=40, relations=6, triples=70)
    members = draw_members(graph.edges, 12, np.random.default_rng(seed)).tolist()
    piece = draw_piece(graph, 12, np.random.default_rng(seed))
    inside = [(h, r, t) for h, r, t in graph.triples.tolist() if h in members and t in members]
    relations = sorted({r for _, r, _ in inside})
    expected = [(members.index(h), relations.index(r), members.index(t)) for h, r, t in inside]
    assert sorted(map(tuple, piece.triples.tolist())) == sorted(expected)
    assert (piece.entities, piece.relations) == (len(members), len(relations))


@few
@given(triple_sets(relations=5, most=40), st.integers(0, 99))
def test_altered_facts_join_the_same_entities(case, seed):
    triples, _, relations = case
    altered = alter_relations(triples, relations, np.random.default_rng(seed))
    assert {frozenset((h, t)) for h, _, t in altered.tolist()} == {
        frozenset((h, t)) for h, _, t in triples.tolist()
    }
    numbers = np.unique(altered[:, 1])
    assert numbers.tolist() == list(range(len(numbers)))
    assert len(numbers) <= len(np.unique(triples[:, 1]))
    assert len(np.unique(altered, axis=0)) == len(altered) <= 2 * len(triples)


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("TURNED", lambda given: {(t, r, h) for h, r, t in given}),
        ("MERGED", None),
    ],
)
def test_each_way_to_alter(monkeypatch, name, check):
    for other in ("MIRRORED", "TURNED", "MERGED"):
        monkeypatch.setattr(pieces, other, float(other == name))
    graph = random_graph(0, relations=4)
    altered = alter_relations(graph.triples, 4, np.random.default_rng(1)).tolist()
    if check is not None:
        assert set(map(tuple, altered)) == check(graph.triples.tolist())
    else:
        pairs = {(h, t) for h, _, t in graph.triples.tolist()}
        assert {(h, t) for h, _, t in altered} == pairs
        assert len({r for _, r, _ in altered}) < 4


def test_a_mirrored_relation_holds_both_ways(monkeypatch):
    for other in ("TURNED", "MERGED"):
        monkeypatch.setattr(pieces, other, 0.0)
    monkeypatch.setattr(pieces, "MIRRORED", 1.0)
    graph = random_graph(0)
    facts = set(map(tuple, graph.triples.tolist()))
    altered = alter_relations(graph.triples, graph.relations, np.random.default_rng(0))
    new = set(map(tuple, altered.tolist())) - facts
    assert facts <= set(map(tuple, altered.tolist()))
    assert new
    assert all((t, r, h) in facts for h, r, t in new)


def test_a_generator_gives_one_piece():
    graph = random_graph(3, entities=60, triples=150)
    first, again, other = (
        draw_piece(graph, 20, np.random.default_rng(seed)).triples for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or (first != other).any()
