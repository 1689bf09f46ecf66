"""Walks over a graph agree with a slow version that holds all entities."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.ask import walks
from kgraft.ask.walks import (
    EntityScores,
    Walk,
    all_entities,
    start_scores,
    sum_scores,
    take_step,
)
from kgraft.graph import Fact


def dense(scores, questions, entities):
    found = torch.zeros(questions, entities)
    found[torch.from_numpy(scores.question), torch.from_numpy(scores.entity)] = scores.score
    return found


def slow_step(mass, wanted, graph):
    arrived, facts = torch.zeros_like(mass), graph.triples
    relations = len(graph.relations)
    rows = zip(facts.head.tolist(), facts.relation.tolist(), facts.tail.tolist(), strict=True)
    for head, relation, tail in rows:
        arrived[:, tail] += mass[:, head] * wanted[:, relation]
        arrived[:, head] += mass[:, tail] * wanted[:, relation + relations]
    return arrived.clamp_max(1.0)


@given(seed=st.integers(0, 99))
@settings(max_examples=at_most(20), deadline=None)
def test_steps_and_total_follow_the_formula(graph, seed):
    torch.manual_seed(seed)
    entities, relations = len(graph.entities), len(graph.relations)
    topic = np.random.default_rng(seed).integers(entities, size=3)
    wanted, lengths = torch.rand(2, 3, 2 * relations), torch.rand(2, 3)
    walk = Walk.of(topic, wanted, lengths, graph.adjacency, entities)
    mass = dense(start_scores(topic), 3, entities)
    total = torch.zeros_like(mass)
    for hop in range(2):
        mass = slow_step(mass, wanted[hop], graph)
        mass[range(3), topic] = 0.0  # never back to where it began
        assert torch.allclose(dense(walk.steps[hop + 1], 3, entities), mass, atol=1e-5)
        total += lengths[hop][:, None] * mass
    assert torch.allclose(dense(walk.total(), 3, entities), total, atol=1e-5)


def test_sums_is_in_order_and_keeps_gradients():
    mass = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    found = sum_scores(np.array([1, 0, 1]), np.array([7, 3, 7]), mass)
    assert found.question.tolist() == [0, 1]
    assert found.entity.tolist() == [3, 7]
    assert found.score.tolist() == [2.0, 5.0]
    found.score[1].backward()
    assert mass.grad.tolist() == [1.0, 0.0, 1.0]


@given(st.lists(st.integers(0, 50)))
def test_distinct_with_marks_and_by_sorting(monkeypatch_module, keys):
    array = np.array(keys, np.int64)
    expected, place = np.unique(array, return_inverse=True)
    for marks in (0, 1 << 20):
        monkeypatch_module.setattr(walks, "MARKS", marks)
        found = walks._distinct(array)
        assert found[0].tolist() == expected.tolist()
        assert found[1].tolist() == place.tolist()


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_the_highest_and_the_best():
    mass = torch.tensor([0.2, 0.5, 0.1, 0.3])
    found = EntityScores(np.array([0, 0, 0, 2]), np.array([1, 2, 3, 1]), mass)
    assert found.highest(2).entity.tolist() == [1, 2, 1]
    assert found.highest(2).question.tolist() == [0, 0, 2]
    assert found.best(3).tolist() == [2, -1, 1]
    assert found.among([np.array([3, 9]), np.array([1]), np.array([1])]).tolist() == [
        False, False, True, True,
    ]  # fmt: skip


def test_all_entities():
    found = all_entities(torch.tensor([[0.1, 0.2], [0.4, 0.3]]))
    assert found.question.tolist() == [0, 0, 1, 1]
    assert found.entity.tolist() == [0, 1, 0, 1]
    assert found.best(2).tolist() == [1, 0]


def test_a_step_goes_on_from_the_highest_alone(graph):
    germany = graph.indices_of(["germany"])
    wanted, lengths = torch.full((2, 1, 2 * len(graph.relations)), 0.1), torch.ones(2, 1)
    wide, narrow = (Walk.of(germany, wanted, lengths, graph.adjacency, most) for most in (99, 1))
    assert len(narrow.steps[1].entity) == len(wide.steps[1].entity) > 1
    assert set(narrow.steps[2].entity) < set(wide.steps[2].entity)


def test_the_path_is_the_likeliest(graph):
    berlin, germany, euro = graph.indices_of(["berlin", "germany", "euro"])
    names = graph.relations["id"].to_pylist()
    facts = list(zip(*(c.tolist() for c in (
        graph.triples.head, graph.triples.relation, graph.triples.tail)), strict=True))  # fmt: skip
    first = next(f for f in facts if {f[0], f[2]} == {berlin, germany})
    second = next(f for f in facts if {f[0], f[2]} == {germany, euro})
    wanted = torch.full((2, 1, 2 * len(names)), 1e-3)
    for hop, (fact, source) in enumerate([(first, berlin), (second, germany)]):
        wanted[hop, 0, fact[1] + (0 if fact[0] == source else len(names))] = 1.0
    walk = Walk.of(np.array([berlin]), wanted, torch.ones(2, 1), graph.adjacency, 99)
    assert walk.path(0, int(euro), graph.adjacency) == [Fact(*first), Fact(*second)]
    assert walk.path(0, int(germany), graph.adjacency) == [Fact(*first)]


def test_no_question_and_no_way(graph):
    relations = len(graph.relations)
    nothing = take_step(
        start_scores(np.zeros(0, np.int64)), torch.ones(0, 2 * relations), graph.adjacency
    )
    assert len(nothing.entity) == 0
    alone = graph.adjacency.degree() == 0
    if alone.any():
        topic = np.flatnonzero(alone)[:1]
        assert not len(
            take_step(start_scores(topic), torch.ones(1, 2 * relations), graph.adjacency).entity
        )
