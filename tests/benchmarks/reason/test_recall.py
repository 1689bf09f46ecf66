"""What counts as recalled."""

import pytest
from benchmarks.data.simple_questions import SimpleQuestion
from benchmarks.reason.recall import WordOverlap, holds, name_lengths
from tests.reason.memory.conftest import build

from kgraft.graph.names import NameMatcher
from kgraft.reason import FactMemory
from kgraft.reason.memory.slots import slots_of
from kgraft.text import StaticEncoder


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return build(tmp_path_factory.mktemp("recall") / "graph")


def facts_about(graph, entity, **options):
    memory = FactMemory(graph, StaticEncoder.load(), cache=False)
    return memory.recall("x", entities=[entity], **options)


def test_a_line_counts_if_it_is_what_is_asked_for_or_shows_an_answer(graph):
    asked = SimpleQuestion("who was born there?", "berlin", "born_in", False, ["anna"])
    assert asked.triples() == {("anna", "born_in", "berlin")}
    by_relation = {fact.relation.id: holds(fact, asked) for fact in facts_about(graph, "berlin")}
    assert by_relation == {"born_in": True, "capital_of": False, "twin_of": False}
    (other_end,) = facts_about(graph, "anna")
    assert holds(other_end, asked)


def test_baselines_score_each_slot(graph):
    text = "what is New York a twin of?"
    mentions = NameMatcher(graph).find([text])
    slots = slots_of(graph, mentions.entity)
    lengths = dict(zip(slots.entity.tolist(), name_lengths(mentions, slots), strict=True))
    assert lengths == {graph.index("new_york"): 8, graph.index("york"): 4}
    scores = WordOverlap(graph)(text, slots)
    assert slots.entity[scores.argmax()] == graph.index("new_york")
