import json

import pyarrow as pa
import pytest

from kgraft.errors import BadInput
from kgraft.graph import Graph, TablesSource, build_graph, open_source
from kgraft.graph.literals import XSD

TRIPLES = "head\trelation\ttail\nann\tknows\tbob\n"


def folder(tmp_path, literals):
    (tmp_path / "triples.tsv").write_text(TRIPLES, "utf-8")
    (tmp_path / "entities.tsv").write_text("id\nann\nbob\n", "utf-8")
    (tmp_path / "literals.tsv").write_text(literals, "utf-8")
    return tmp_path


def build(source, tmp_path):
    build_graph(source, tmp_path / "graph")
    return Graph.open(tmp_path / "graph")


def test_a_file_of_literals_beside_triples(tmp_path):
    rows = [
        "property\tentity\tvalue\tdatatype\tlanguage\trelation\tproperty_label\tsource",
        f"P1\tann\t1.83\t{XSD}decimal\t\t\theight\tpassport",
        "P2\tann\tvive\t\tfr\t\t\t",
        "page\tbob\thttp://e.org/bob\t@id\t\t\t\t",
        "since\t\t2001\t\t\tknows\t\t",
    ]
    graph = build(open_source(folder(tmp_path, "\n".join(rows))), tmp_path)
    assert [(v.property_label, v.value, v.kind, v.language) for v in graph.literals("ann")] == [
        ("height", 1.83, "number", ""),
        ("P2", "vive", "language string", "fr"),
    ]
    assert [(v.text, v.kind) for v in graph.literals("bob")] == [("http://e.org/bob", "link")]
    assert graph.manifest.literals == 4
    assert graph.manifest.left_out == {"values of the column 'source' of literals": 1}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("\tp\tx\t\t", "a value needs an entity or a relation"),
        ("ann\t\tx\t\t", "empty property"),
        ("ann\tp\tx\tdate\ten", "a datatype or a language, not both"),
        ("ann\tp\tx\t@en\t", "a language has a column of its own"),
    ],
)
def test_bad_rows_are_refused_with_their_line(tmp_path, collect, row, reason):
    source = open_source(
        folder(tmp_path, f"entity\tproperty\tvalue\tdatatype\tlanguage\nann\tp\ty\t\t\n{row}\n")
    )
    with pytest.raises(BadInput) as raised:
        collect(source)
    assert raised.value.line == 3
    assert reason in str(raised.value)
    assert collect(source, skip=True).literals == [("ann", "p", "y", "")]


def test_a_table_without_the_columns_is_refused(tmp_path, collect):
    with pytest.raises(BadInput, match="literals need one column 'value'"):
        collect(open_source(folder(tmp_path, "entity\tproperty\n")))
    with pytest.raises(BadInput, match="literals need one column 'property'"):
        TablesSource(literals=pa.table({"entity": ["a"], "value": [1]}))


def test_an_undeclared_entity_is_added_or_refused(tmp_path):
    place = folder(tmp_path, "entity\tproperty\tvalue\ncleo\tage\t3\n")
    graph = build(open_source(place), tmp_path)
    assert (
        "1 entity that only triples or values name: added with the id as label"
        in graph.manifest.notes
    )
    with pytest.raises(BadInput, match=r"literals.tsv:2: unknown entity: 'cleo'"):
        build_graph(open_source(place, undeclared="refuse"), tmp_path / "other")


def test_json_lines_may_hold_numbers_and_booleans(tmp_path, collect):
    lines = [
        {"kind": "literal", "entity": "ann", "property": "age", "value": 30},
        {"kind": "literal", "entity": "ann", "property": "tall", "value": True, "note": "x"},
        {"head": "ann", "relation": "knows", "tail": "bob"},
        {"kind": "literal", "relation": "knows", "property": "since", "value": "2001"},
    ]
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    found = collect(open_source(path))
    assert found.literals == [
        ("ann", "age", "30", f"{XSD}integer"),
        ("ann", "tall", "true", f"{XSD}boolean"),
        ("knows", "since", "2001", ""),
    ]
    assert found.left_out == {"other fields of literals": 1}
    path.write_text('{"kind": "literal", "entity": "a", "property": "p", "value": [1]}', "utf-8")
    with pytest.raises(BadInput, match="value must be a text, number or boolean, found a list"):
        collect(open_source(path))


def test_columns_of_numbers_bring_their_datatype(collect):
    table = pa.table({"entity": ["a", "b"], "property": ["p", "p"], "value": [1.5, None]})
    assert collect(TablesSource(literals=table)).literals == [
        ("a", "p", "1.5", f"{XSD}double"),
        ("b", "p", "", ""),
    ]
    with pytest.raises(BadInput, match="neither text, number, date nor boolean"):
        collect(TablesSource(literals=[("a", "p", {"x": 1})]))
