from datetime import date, datetime

import numpy as np
import pytest

from kgraft.errors import NotFound
from kgraft.graph import Graph, TablesSource, build_graph, check_graph, open_source
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


def test_a_graph_without_literals_has_no_such_files(tmp_path):
    build_graph(TablesSource([("a", "r", "b")]), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    assert not (tmp_path / "g" / "literals.arrow").exists()
    assert graph.literals("a") == []
    assert len(graph.literal_tables) == 0


def test_relations_and_entities_are_renumbered():
    tables = LiteralTables.empty().renumbered(np.arange(3), np.arange(2))
    assert len(tables) == 0
