"""The line of text that stands for an entity."""

import numpy as np
import pytest

from kgraft.errors import BadInput
from kgraft.vectors.entity_text import ENTITY_FIELDS, FACTS, FIELDS, check_fields, entity_texts


def test_label_description_types_and_aliases(towns):
    assert entity_texts(towns, np.arange(6)).to_pylist() == [
        "Paris: capital of France (city)",
        "France (country)",
        "Berlin: capital of Germany (city)",
        "Germany (country), also called Deutschland",
        "Rhine: river",
        "Alone: no triples",
    ]


def test_order_and_repetition_are_kept(towns):
    assert entity_texts(towns, np.array([4, 1, 4]), ["label"]).to_pylist() == [
        "Rhine",
        "France",
        "Rhine",
    ]
    assert entity_texts(towns, np.zeros(0, np.int64)).to_pylist() == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["description"], ["capital of France", "", ""]),
        (["types"], ["(city)", "(country)", "(country)"]),
        (["aliases"], ["", "", "also called Deutschland"]),
        (["label", "types"], ["Paris (city)", "France (country)", "Germany (country)"]),
    ],
)
def test_fields_are_a_choice(towns, fields, expected):
    numbers = towns.indices_of(["paris", "france", "germany"])
    assert entity_texts(towns, numbers, fields).to_pylist() == expected


def test_few_of_many_aliases_are_used(tmp_path, build):
    names = [f"name {n}" for n in range(20)]
    graph = build(tmp_path / "g", [("a", "r", "a")], [{"id": "a", "label": "A", "aliases": names}])
    text = entity_texts(graph, graph.indices_of(["a"])).to_pylist()[0]
    assert text == "A, also called " + ", ".join(names[:8])


def test_facts_stand_in_for_a_description(towns):
    assert entity_texts(towns, np.arange(6), ENTITY_FIELDS).to_pylist() == [
        "Paris: capital of France (city)",
        "France (country). borders: Germany; capital_of of Paris",
        "Berlin: capital of Germany (city)",
        "Germany (country), also called Deutschland."
        " borders: France; capital_of of Berlin; flows_in of Rhine",
        "Rhine: river",
        "Alone: no triples",
    ]


def test_facts_are_asked_for_by_name(towns):
    assert FIELDS == ("label", "description", "types", "aliases")
    assert entity_texts(towns, np.arange(6)).equals(entity_texts(towns, np.arange(6), FIELDS))
    numbers = towns.indices_of(["france", "paris", "france"])
    said = "borders: Germany; capital_of of Paris"
    assert entity_texts(towns, numbers, ["description", "facts"]).to_pylist() == [
        said,
        "capital of France",
        said,
    ]
    assert entity_texts(towns, numbers[:1], ["facts"]).to_pylist() == [said]
    assert entity_texts(towns, numbers[:0], ["facts"]).to_pylist() == []


def test_few_of_many_facts_are_used_and_each_relation_gets_its_turn(tmp_path, build):
    names = [f"b{n}" for n in range(9)]
    triples = [("a", "has", name) for name in names] + [(name, "made", "a") for name in names]
    graph = build(tmp_path / "g", triples, [{"id": name, "label": name} for name in ("a", *names)])
    (text,) = entity_texts(graph, graph.indices_of(["a"]), ENTITY_FIELDS).to_pylist()
    assert text.startswith("a. ")
    said = text.removeprefix("a. ").split("; ")
    assert len(said) == FACTS
    assert {fact.split()[0] for fact in said} == {"has:", "made"}


def test_without_triples_there_are_no_facts(tmp_path, build):
    graph = build(tmp_path / "g", [("b", "r", "b")], [{"id": "a", "label": "A"}, {"id": "b"}])
    assert entity_texts(graph, graph.indices_of(["a"]), ENTITY_FIELDS).to_pylist() == ["A"]


@pytest.mark.parametrize("fields", [["colour"], [], "label"])
def test_unknown_fields_are_refused(fields):
    with pytest.raises(BadInput, match="label, description, types"):
        check_fields(fields)


def test_fields_are_read_in_one_order():
    assert check_fields(["types", "label"]) == ("label", "types")
    assert check_fields(["facts", "aliases"]) == ("aliases", "facts")
