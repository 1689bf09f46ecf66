"""Which facts a card shows first."""

import numpy as np
import pytest

from kgraft.graph.cards import choose_facts


def facts(graph, name, limit):
    card = graph.card(graph.resolve(name), limit=limit)
    return [(n.direction, n.relation.id, n.entity.id) for n in card.neighbours]


@pytest.fixture
def graph(make_graph, tmp_path):
    triples = [("a", "near", x) for x in "bcde"]
    triples += [("a", "likes", "b"), ("f", "owns", "a"), ("b", "near", "a"), ("g", "near", "a")]
    return make_graph(tmp_path, triples)


def test_every_relation_gets_its_turn(graph):
    shown = facts(graph, "a", 4)
    assert {(direction, relation) for direction, relation, _ in shown} == {
        ("out", "near"),
        ("out", "likes"),
        ("in", "owns"),
        ("in", "near"),
    }


def test_mirror_images_count_once(graph):
    assert ("in", "near", "b") not in facts(graph, "a", 20)
    assert ("in", "near", "g") in facts(graph, "a", 20)
    assert graph.card("a").facts == 8


def test_an_entity_without_edges(graph):
    none = np.zeros(0, np.int64)
    assert choose_facts(graph.adjacency, 0, none, 5).tolist() == []
