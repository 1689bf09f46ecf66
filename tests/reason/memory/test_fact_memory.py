"""Recall against the formula, written with loops."""

import numpy as np
import pytest
from tests.reason.memory.conftest import build

from kgraft.errors import BadInput, NotFound
from kgraft.graph.names import NameMatcher
from kgraft.reason import FactMemory, RecallSettings
from kgraft.reason.memory.context import Context
from kgraft.reason.memory.slots import slot_facts, slots_of

QUESTION = "What is the capital of France?"


def naive_weights(memory, text):
    """Return a_i of the facts of each slot of the entities that a text names."""
    context = Context.of_mentions(NameMatcher(memory.graph).find([text]), memory.settings)
    slots = slots_of(memory.graph, context.entity)
    query, scores = memory.encoder.encode([text])[0], {}
    for row in range(len(slots)):
        key = memory.encoder.encode(
            memory.words(slots.entity[[row]], slots.relation[[row]]).to_pylist()
        )
        bonus = context.bonus[context.entity.tolist().index(slots.entity[row])]
        facts = tuple(slot_facts(slots, row))
        scores[int(slots.entity[row]), facts] = float(key[0] @ query + bonus)
    best = sorted(scores, key=lambda slot: -scores[slot])[: memory.settings.slots]
    weights = {slot: np.exp(scores[slot] / memory.settings.temperature) for slot in best}
    return {slot: weight / sum(weights.values()) for slot, weight in weights.items()}


@pytest.mark.parametrize("slots", [64, 3])
def test_weights_are_those_of_the_formula(graph, encoder, slots):
    settings = RecallSettings(temperature=0.2, slots=slots)
    memory = FactMemory(graph, encoder, settings=settings, cache=False)
    expected = naive_weights(memory, QUESTION)
    recalled = memory.recall(QUESTION, limit=3)
    assert recalled[0].words == "Paris is the capital of France."
    for fact in recalled:
        ids = [tuple(graph.index(part) for part in (t[0], t[2])) for t in fact.triples()]
        weights = [
            weight
            for (entity, facts), weight in expected.items()
            if entity == fact.entity.index and {(h, t) for h, _, t in facts} == set(ids)
        ]
        assert fact.weight == pytest.approx(max(weights), abs=1e-5)


def test_answers_are_sums_of_weights(graph, encoder):
    memory = FactMemory(graph, encoder, settings=RecallSettings(temperature=0.2), cache=False)
    expected = np.zeros(len(graph))
    for (entity, facts), weight in naive_weights(memory, QUESTION).items():
        for head, _, tail in facts:
            expected[tail if entity == head else head] += weight
    answers = memory.answer(QUESTION, limit=len(graph))
    assert answers[0].entity.id == "paris"
    for answer in answers:
        assert answer.score == pytest.approx(expected[answer.entity.index], abs=1e-5)
        assert all(answer.entity.id in (head, tail) for head, _, tail in answer.facts)
    assert [a.score for a in answers] == sorted((a.score for a in answers), reverse=True)
    assert answers[0].to_dict()["facts"][0] == ["paris", "capital_of", "france"]


def test_only_the_slots_of_named_entities_are_encoded(memory, encoder):
    memory.recall("where was Anna born?")
    assert encoder.read == ["where was Anna born?", "Anna born in"]


def test_where_nothing_is_named_the_whole_graph_is_looked_at(memory):
    assert not memory.index.is_filled
    assert memory.recall("the capital of which country?", limit=2)
    assert memory.index.is_filled


def test_everywhere(memory):
    texts = {fact.words for fact in memory.recall("Anna was born", limit=20, everywhere=True)}
    assert len(texts) > 5


def test_entities_that_are_given(memory, graph):
    facts = memory.recall("who was born there?", entities=["Berlin"])
    assert {fact.entity.id for fact in facts} == {"berlin"}
    assert facts[0].triples() == [("anna", "born_in", "berlin")]
    assert not facts[0].forward
    with pytest.raises(NotFound, match="Atlantis"):
        memory.recall("who?", entities=["Atlantis"])


def test_mentions_that_are_given(memory, graph):
    mentions = NameMatcher(graph).find(["Rhine"])
    assert {f.entity.id for f in memory.recall("Anna", mentions=mentions)} == {"rhine"}


def test_a_hub_says_how_many_it_has(tmp_path, encoder):
    triples = [(f"p{n}", "born_in", "rome") for n in range(50)]
    entities = [{"id": "rome", "label": "Rome"}, *({"id": f"p{n}"} for n in range(50))]
    memory = FactMemory(build(tmp_path / "g", triples, entities, ()), encoder, cache=False)
    (fact,) = memory.recall("who was born in Rome?")
    assert (fact.count, len(fact.others), len(fact.triples())) == (50, 5, 5)
    assert "(5 of 50)" in fact.words
    assert fact.to_dict()["count"] == 50
    assert len(memory.answer("who was born in Rome?", limit=100)) == 50


def test_more_than_the_slots_that_are_attended_to_can_be_asked_for(graph, encoder):
    memory = FactMemory(graph, encoder, settings=RecallSettings(slots=1), cache=False)
    assert len(memory.recall("Germany, France and Berlin", limit=5)) == 5


@pytest.mark.parametrize("ask", ["recall", "answer"])
def test_a_limit_below_one_is_refused(memory, ask):
    with pytest.raises(BadInput, match="0"):
        getattr(memory, ask)("text", limit=0)


def test_a_graph_without_facts_recalls_nothing(tmp_path, encoder):
    memory = FactMemory(build(tmp_path / "g", (), [{"id": "a"}], ()), encoder, cache=False)
    assert memory.recall("anything", limit=3) == []
    assert memory.answer("a", limit=3) == []
