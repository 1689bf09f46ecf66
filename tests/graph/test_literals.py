from datetime import date, datetime

import numpy as np
import pytest

from kgraft.errors import NotFound
from kgraft.graph import (
    Graph,
    TablesSource,
    add_fact,
    build_graph,
    check_graph,
    diff_graphs,
    merge_graphs,
    open_source,
    remove_parts,
    split_graph,
)
from kgraft.graph.io.rdf.iris import WIKIDATA
from kgraft.graph.literals import XSD, LiteralTables, typed

DATA = """\
@prefix : <http://e.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:height rdfs:label "height" .
:ann :knows :bob ; :height 1.8 ; :born "1990-05-01"^^xsd:date ; :motto "vive"@fr , "live" .
:bob :height 2 ; :active true ; :lives "3.5"^^<http://e.org/unit/kiloMetre> .
:knows :since "2001"^^xsd:gYear .
"""


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "g.ttl").write_text(DATA, "utf-8")
    build_graph(open_source(tmp_path / "g.ttl"), tmp_path / "g")
    return Graph.open(tmp_path / "g")


@pytest.mark.parametrize(
    ("text", "datatype", "value", "kind"),
    [
        ("x", "", "x", "string"),
        ("x", "@en", "x", "language string"),
        ("x", "<>", "x", "link"),
        ("x", "@id", "x", "language string"),
        ("-5", f"{XSD}nonPositiveInteger", -5, "number"),
        ("1e3", f"{XSD}double", 1000.0, "number"),
        ("1", f"{XSD}boolean", True, "boolean"),
        ("yes", f"{XSD}boolean", "yes", "string"),
        ("1990-05-01Z", f"{XSD}date", date(1990, 5, 1), "date"),
        ("1990-05-01T10:00:00", f"{XSD}dateTime", datetime(1990, 5, 1, 10), "date"),
        ("-0044-03-15", f"{XSD}date", "-0044-03-15", "string"),
        ("1_000", f"{XSD}decimal", "1_000", "string"),
        ("5", "http://e.org/metre", 5.0, "quantity"),
    ],
)
def test_a_literal_means_what_its_datatype_says(text, datatype, value, kind):
    got, got_kind, _ = typed(text, datatype)
    assert (got, type(got), got_kind) == (value, type(value), kind)


def test_literals_of_an_entity_are_typed(graph):
    values = {
        v.property_label: (v.value, v.kind, v.unit) for v in graph.literals("http://e.org/bob")
    }
    assert values == {
        "height": (2, "number", ""),
        "active": (True, "boolean", ""),
        "lives": (3.5, "quantity", "kilo metre"),
    }
    mottos = [v for v in graph.literals("http://e.org/ann") if v.property_label == "motto"]
    assert [(v.text, v.language) for v in mottos] == [("vive", "fr"), ("live", "")]
    assert check_graph(graph.folder) == []


def test_entities_are_found_by_a_value(graph):
    def found(name, value):
        return [entity.label for entity in graph.find_by_value(name, value)]

    assert found("height", 2) == found("http://e.org/height", 2.0) == ["bob"]
    assert found("born", date(1990, 5, 1)) == found("motto", "live") == ["ann"]
    assert found("active", True) == ["bob"]
    assert found("active", 1) == found("height", "2.0") == []
    with pytest.raises(NotFound, match="no property is named 'weight'"):
        graph.find_by_value("weight", 2)


def test_cards_show_values_but_no_names_twice(graph):
    words = [value.words() for value in graph.card("http://e.org/bob").literals]
    assert words == ["height: 2", "active: true", "lives: 3.5 kilo metre"]


def test_changes_keep_literals(graph, tmp_path):
    less = graph.without(tmp_path / "less", entities=["http://e.org/ann"])
    assert [v.text for v in less.literals("http://e.org/bob")] == ["2", "true", "3.5"]
    labels = less.literal_tables.properties["label"].to_pylist()
    assert sorted(labels) == ["active", "height", "label", "lives", "since"]
    more = graph.extend(tmp_path / "more", TablesSource([("x", "r", "http://e.org/bob")]))
    assert [v.text for v in more.literals("http://e.org/bob")] == ["2", "true", "3.5"]
    (tmp_path / "n.nt").write_text('<http://e.org/bob> <http://e.org/height> "3" .\n', "utf-8")
    newer = more.extend(tmp_path / "newer", open_source(tmp_path / "n.nt"))
    assert [v.text for v in newer.literals("http://e.org/bob")] == ["2", "true", "3.5", "3"]
    for changed in (less, more, newer):
        assert check_graph(changed.folder) == []


def test_every_change_keeps_values(graph, tmp_path):
    def values(changed):
        return [(v.property_label, v.text) for v in changed.literals("http://e.org/bob")]

    before = values(graph)
    build_graph(TablesSource([("x", "r", "y")]), tmp_path / "other")
    merged = merge_graphs([Graph.open(tmp_path / "other"), graph], tmp_path / "both").graph
    split = split_graph(graph, tmp_path / "split", valid=0, test=0).graph
    added = add_fact(graph, ("bob", "knows", "ann"), tmp_path / "added").graph
    removed = remove_parts(added, tmp_path / "removed", triples=[("bob", "knows", "ann")])
    for changed in (merged, split, added, removed):
        assert values(changed) == before
        assert not any(diff_graphs(graph, changed).counts()["values"].values())
    more = graph.extend(tmp_path / "more", literals=[("http://e.org/bob", "age", 30)])
    assert values(more) == [*before, ("age", "30")]
    assert more.find_by_value("age", 30)[0].label == "bob"


def test_a_relation_goes_with_its_values(tmp_path):
    relations = [{"id": "P1", "label": "height"}, {"id": "P2"}]
    values = [("a", "P1", 1.8), ("a", "P2", "x")]
    build_graph(TablesSource([("a", "P1", "b")], None, relations, values), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    assert graph.literals("a")[0].property_label == "height"
    less = graph.without(tmp_path / "less", relations=["P1"])
    assert [(v.property_id, v.text) for v in less.literals("a")] == [("P2", "x")]
    assert check_graph(less.folder) == []


def test_a_unit_has_the_label_of_its_entity(tmp_path):
    values = [
        {"entity": "a", "property": "mass", "value": "3", "datatype": "http://e.org/kg"},
        {"entity": "a", "property": "size", "value": "5", "datatype": f"{WIKIDATA}entity/Q11573"},
        {"entity": "a", "property": "cost", "value": "7", "datatype": "http://e.org/gold%20Coin"},
    ]
    entities = [{"id": "a"}, {"id": "http://e.org/kg", "label": "kilogram"}]
    build_graph(TablesSource([], entities, None, values), tmp_path / "g")
    words = [value.words() for value in Graph.open(tmp_path / "g").literals("a")]
    assert words == ["mass: 3 kilogram", "size: 5 metre", "cost: 7 gold coin"]


def test_a_graph_without_literals_has_no_such_files(tmp_path):
    build_graph(TablesSource([("a", "r", "b")]), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    assert not (tmp_path / "g" / "literals.arrow").exists()
    assert graph.literals("a") == []
    assert len(graph.literal_tables) == 0


def test_relations_and_entities_are_renumbered():
    tables = LiteralTables.empty().reindexed(np.arange(3), np.arange(2))
    assert len(tables) == 0
