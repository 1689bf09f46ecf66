"""Candidates come by name and by vector, each once, with what is known of the pair."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import build, some
from torch.nn.functional import normalize

from kgraft.graph.names import Names
from kgraft.link.candidates import BY_NAME, BY_VECTOR, features_of, find_candidates, names_of
from kgraft.link.facts import entity_facts
from kgraft.link.model import FEATURES
from kgraft.vectors.index import EntityIndex

TEXT = "Paris, New York City, France and 東京: in euro"


@pytest.fixture(scope="module")
def vectors(graph):
    draw = torch.Generator().manual_seed(7)
    return normalize(torch.randn(len(graph.entities), 6, generator=draw), dim=1)


@pytest.fixture(scope="module")
def index(vectors):
    return EntityIndex.build(lambda: [vectors], *vectors.shape)


def naive(named, row, query, vectors, searched):
    """Return the entities of a span with their priors: its name's, then the nearest others."""
    found = []
    if row >= 0:
        places = range(named.candidates[row], named.candidates[row + 1])
        found = [(int(named.entity[p]), float(named.prior[p])) for p in places][:BY_NAME]
    near = sorted(range(len(vectors)), key=lambda e: -float(vectors[e] @ query))[:BY_VECTOR]
    if not searched:
        return found
    return found + [(e, 0.0) for e in near if e not in [known for known, _ in found]]


@given(rows=st.lists(st.integers(-1, 6), max_size=8), seed=st.integers(0, 99))
@some
def test_candidates_are_those_of_a_plain_search(graph, index, vectors, rows, seed):
    named = Names(graph).find([TEXT])
    rows = np.array(rows, np.int64)
    assert len(named) == 7
    queries = torch.randn(len(rows), 6, generator=torch.Generator().manual_seed(seed))
    searched = np.random.default_rng(seed).random(len(rows)) < 0.7
    found = find_candidates(named, rows, queries, searched, index, entity_facts(graph))
    assert found.entity.shape == (len(rows), BY_NAME + BY_VECTOR)
    for place, row in enumerate(rows.tolist()):
        there = found.entity[place] >= 0
        pairs = zip(found.entity[place][there], found.prior[place][there].tolist(), strict=True)
        assert list(pairs) == naive(named, row, queries[place], vectors, searched[place])


def test_padding_is_where_nothing_stands(graph, index):
    named = Names(graph).find([TEXT])
    found = find_candidates(
        named, np.array([0, -1]), torch.ones(2, 6), np.ones(2, bool), index, entity_facts(graph)
    )
    assert found.padding.tolist() == (found.entity == -1).tolist()
    assert not found.prior[found.padding.numpy()].any()
    some = found.take(np.array([1]))
    assert some.entity.tolist() == found.entity[1:].tolist()
    assert torch.equal(some.features, found.features[1:])


def test_a_name_of_many_entities_gives_the_likeliest(tmp_path):
    entities = [{"id": f"e{n}", "label": "Same"} for n in range(12)]
    graph = build(tmp_path / "same", [("e9", "lies in", "e4"), ("e9", "borders", "e3")], entities)
    named = Names(graph).find(["Same"])
    entity, prior = names_of(named, np.array([0, -1]))
    assert entity[0, 0] == 9
    assert len(set(entity[0].tolist())) == BY_NAME
    assert prior[0].tolist() == sorted(prior[0].tolist(), reverse=True)
    assert prior[0, 0] == pytest.approx(3 / 16)  # two triples and one, among 4 + 12
    assert entity[1].tolist() == [-1] * BY_NAME
    assert not prior[1].any()


def test_features_are_what_the_graph_knows_of_the_pair(graph):
    facts = entity_facts(graph)
    [paris, euro] = graph.numbers_of(["fr-paris", "euro"])
    entity, prior = np.array([[paris, euro, -1]]), np.array([[0.25, 0, 0]], np.float32)
    [features] = features_of(entity, prior, facts)
    assert features.shape == (3, len(FEATURES))
    assert features[0].tolist() == pytest.approx([np.log(0.25), 1, *facts[paris]])
    assert features[1].tolist() == pytest.approx([0, 0, *facts[euro]])
    assert features[2].isfinite().all()


def test_without_entities_there_are_no_candidates(nothing):
    named = Names(nothing).find([TEXT])
    index = EntityIndex.build(list, 0, 6)
    found = find_candidates(
        named, np.array([-1]), torch.ones(1, 6), np.ones(1, bool), index, entity_facts(nothing)
    )
    assert (found.entity == -1).all()
    assert found.features.shape == (1, BY_NAME + BY_VECTOR, len(FEATURES))
