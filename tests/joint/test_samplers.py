"""Walks and rivals, and what may not be seen around an entity."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graft.tiny import build
from tests.random_inputs import at_most

from kgraft.graph.sampling import sample_neighbourhood
from kgraft.joint.samplers import Categories, negative_candidates, sample_walks
from kgraft.vectors.neighbourhood import Neighbourhood, neighbourhoods

some = settings(max_examples=at_most(30), deadline=None)


def facts(graph):
    columns = (getattr(graph.triples, n).tolist() for n in ("head", "relation", "tail"))
    return set(zip(*columns, strict=True))


@given(seed=st.integers(0, 999), length=st.integers(1, 3))
@some
def test_walks_go_along_facts(graph, seed, length):
    batch = sample_walks(graph, 5, length, np.random.default_rng(seed))
    asked = zip(batch.entity[batch.head], batch.relation, batch.entity[batch.tail], strict=True)
    assert {tuple(map(int, fact)) for fact in asked} <= facts(graph)
    assert len(batch.relation) == len(batch.entity) - 5
    for row, entity in enumerate(batch.entity.tolist()):
        near = {int(batch.entity[t]) for t in batch.tail[batch.head == row]}
        near |= {int(batch.entity[h]) for h in batch.head[batch.tail == row]}
        assert near <= set(batch.hidden[row].tolist()), entity


@given(seed=st.integers(0, 999))
@some
def test_what_is_asked_for_is_not_seen(graph, seed):
    batch = sample_walks(graph, 6, 1, np.random.default_rng(seed))
    around = neighbourhoods(graph, batch.entity, (3, 2), seed=seed, hidden=batch.hidden)
    first = around.entity[around.bounds[1] : around.bounds[2]]
    for source, target in zip(around.source[0].tolist(), first.tolist(), strict=True):
        assert target not in batch.hidden[source]
    _check(graph, around)


@given(seed=st.integers(0, 999))
@some
def test_surroundings_are_facts(graph, seed):
    roots = np.random.default_rng(seed).integers(len(graph.entities), size=4)
    around = neighbourhoods(graph, roots, (3, 2), seed=seed)
    plain = Neighbourhood.of(roots, sample_neighbourhood(graph.adjacency, roots, (3, 2), seed=seed))
    assert torch.equal(around.entity, plain.entity)
    _check(graph, around)


def _check(graph, around):
    """Each edge of what is around is a fact."""
    known, bounds = facts(graph), around.bounds
    for hop in range(2):
        near = around.entity[bounds[hop] : bounds[hop + 1]][around.source[hop]].tolist()
        far = around.entity[bounds[hop + 1] : bounds[hop + 2]].tolist()
        rows = zip(
            near, around.relation[hop].tolist(), far, around.forward[hop].tolist(), strict=True
        )
        assert all(((a, r, b) if out else (b, r, a)) in known for a, r, b, out in rows)


@given(seed=st.integers(0, 999))
@some
def test_negative_candidates(graph, seed):
    random = np.random.default_rng(seed)
    gold = random.integers(len(graph.entities), size=3)
    found = negative_candidates(graph, gold, 4, 5, random)
    assert found.shape == (3, 10)
    assert found[:, 0].tolist() == gold.tolist()
    known = facts(graph)
    for entity, row in zip(gold.tolist(), found.tolist(), strict=True):
        assert entity not in row[1:]
        near = {h for h, _, t in known if t == entity} | {t for h, _, t in known if h == entity}
        listed = {other for other in row[1:5] if other >= 0}
        assert listed <= near
        assert len(listed) >= min(len(near - {entity}), 1)


def test_categories(graph):
    found = Categories.of_graph(graph, 2)
    assert found.names == ["river", "city"]
    paris, river, france = graph.indices_of(["fr-paris", "r3", "france"])
    assert found.of[[paris, river, france]].tolist() == [1, 0, -1]


def test_a_graph_without_facts(tmp_path):
    graph = build(tmp_path / "bare", [], [{"id": "a"}, {"id": "b"}], None)
    batch = sample_walks(graph, 3, 1, np.random.default_rng(0))
    assert len(batch.entity) == len(batch.relation) == 0
    assert Categories.of_graph(graph, 5).of.tolist() == [-1, -1]
