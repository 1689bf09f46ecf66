"""GraphML, GEXF, OBO, node-link JSON and Excel: small samples as the programs write them."""

import io
import json
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput, KgraftError
from kgraft.graph import open_source
from kgraft.graph.io.formats import find_format

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key id="d0" for="node" attr.name="name" attr.type="string"/>
  <key id="d1" for="edge" attr.name="relation" attr.type="string"><default>knows</default></key>
  <key id="d2" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d3" for="node" yfiles.type="nodegraphics"/>
  <graph id="G" edgedefault="directed">
    <node id="n0"><data key="d0">Ann &amp; Co</data></node>
    <node id="n1"><data key="d3">
      <y:ShapeNode><y:NodeLabel>Bob</y:NodeLabel></y:ShapeNode></data></node>
    <node id="n2" labels=":Person:Boss"/>
    <edge source="n0" target="n1"><data key="d2">1.5</data></edge>
    <edge source="n1" target="n2" directed="false"><data key="d1">married</data></edge>
    <edge source="n2" target="n0" label="LIKES"/>
  </graph>
</graphml>
"""
GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="directed">
  <attributes class="node"><attribute id="0" title="description" type="string"/></attributes>
  <attributes class="edge"><attribute id="0" title="since" type="integer"/></attributes>
  <nodes>
    <node id="a" label="Ann"><attvalues><attvalue for="0" value="a boss"/></attvalues></node>
    <node id="b" label="Bob"/>
  </nodes>
  <edges>
    <edge id="0" source="a" target="b" label="knows" weight="2.0"/>
    <edge id="1" source="b" target="a" type="undirected">
      <attvalues><attvalue for="0" value="1999"/></attvalues></edge>
  </edges>
</graph></gexf>
"""
OBO = r"""format-version: 1.2
default-namespace: anatomy

[Term]
id: X:1
name: organ
def: "A \"part\" of a body." [REF:1]
synonym: "body part" EXACT [] {source="x"}
synonym: "Organ" RELATED [REF:2]
xref: Y:1

[Term]
id: X:2
name: heart ! the pump
namespace: cardiology
is_a: X:1 {source="x"} ! organ
relationship: part_of X:3 ! body
alt_id: X:22

[Term]
id: X:4
name: gone
is_obsolete: true

[Typedef]
id: part_of
name: part of
is_transitive: true
"""


@pytest.fixture
def read(tmp_path, collect):
    """Read a file with this content: `read("g.gexf", "<gexf…", skip=False)`."""

    def read(name, content, skip=False, **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return collect(open_source(path, **options), skip=skip)

    return read


def test_graphml(read):
    got = read("g.graphml", GRAPHML)
    rows = [(e["id"], e["label"], e["types"]) for e in got.entities]
    assert rows == [("n0", "Ann & Co", None), ("n1", "Bob", None), ("n2", None, ["Person", "Boss"])]
    assert [triple[:3] for triple in got.triples] == [
        ("n0", "knows", "n1"),
        ("n1", "married", "n2"),
        ("n2", "married", "n1"),
        ("n2", "LIKES", "n0"),
    ]
    assert got.left_out == {"values of 'weight' of edges": 1}
    assert got.lines == [8, 9, 11]


def test_undirected_graphml(read):
    got = read("g.graphml", GRAPHML.replace('edgedefault="directed"', 'edgedefault="undirected"'))
    assert ("n1", "knows", "n0", "train") in got.triples


def test_gexf(read):
    got = read("g.gexf", GEXF)
    assert [(e["id"], e["label"], e["description"]) for e in got.entities] == [
        ("a", "Ann", "a boss"),
        ("b", "Bob", None),
    ]
    assert [triple[:3] for triple in got.triples] == [
        ("a", "knows", "b"),
        ("b", "related to", "a"),
        ("a", "related to", "b"),
    ]
    assert got.left_out == {"values of 'since' of edges": 1}


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aa">]><{0}/>', "an entity is declared"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><{0}>&a;</{0}>', "an entity is declared"),
        ("<{0}>", "not well-formed XML"),
        ("<html/>", "<html>, not <"),
        ("", "not well-formed XML"),
        ("<a>" * 2000, "nested more than"),
        ('<{0}><graph><node id="a"/><edge source="a"/></graph></{0}>', "without source and target"),
        ("<{0}><graph><node/></graph></{0}>", "a node without an id"),
    ],
)
def test_bad_xml_is_refused(read, suffix, text, words):
    with pytest.raises(BadInput, match=words) as error:
        read(f"g.{suffix}", text.replace("{0}", suffix))
    assert ("not well-formed" in error.value.reason) == ("not well-formed" in words)


def test_obo(read):
    got = read("x.obo", OBO)
    organ, heart = got.entities
    assert (organ["label"], organ["description"]) == ("organ", 'A "part" of a body.')
    assert (organ["aliases"], organ["types"]) == (["body part", "Organ"], ["anatomy"])
    assert (heart["label"], heart["types"], heart["alt_id"]) == ("heart", ["cardiology"], "X:22")
    assert [(r["id"], r["label"]) for r in got.relations] == [
        ("part_of", "part of"),
        ("is_a", "is a"),
    ]
    assert [t[:3] for t in got.triples] == [("X:2", "is_a", "X:1"), ("X:2", "part_of", "X:3")]
    assert got.left_out == {
        "xref lines of terms": 1,
        "obsolete terms and relations": 1,
        "is_transitive lines of relations": 1,
    }
    with pytest.raises(BadInput, match=r"x\.obo:1: the first line is not a tag of OBO"):
        read("x.obo", "<html>\n")
    with pytest.raises(BadInput, match=r"x\.obo:1: no id"):
        read("x.obo", "[Term]\nname: x\n")


TRIPLES = [("a", "knows", "b"), ("b", "related to", "a")]
NODES = [{"id": "a", "name": "Ann"}, {"id": "b", "name": "Bob", "size": 3}]
LINKS = [{"source": "a", "target": "b", "relation": "knows"}, {"source": "b", "target": "a"}]

DATA = [{"data": item} for item in (*NODES, *LINKS)]


@pytest.mark.parametrize(
    "document",
    [
        {"directed": True, "nodes": NODES, "links": LINKS},
        {"graph": {"nodes": NODES, "edges": LINKS}},
        {"graph": {"nodes": {n["id"]: {"label": n["name"]} for n in NODES}, "edges": LINKS}},
        {
            "elements": {
                "nodes": [{"data": n} for n in NODES],
                "edges": [{"data": e} for e in LINKS],
            }
        },
        DATA,
        [*NODES, *LINKS],
        {
            "graphs": [
                {
                    "nodes": [{"id": n["id"], "lbl": n["name"]} for n in NODES],
                    "edges": [
                        {"sub": "a", "pred": "knows", "obj": "b"},
                        {"sub": "b", "obj": "a"},
                    ],
                }
            ]
        },
    ],
    ids=["networkx", "graph", "jgf", "cytoscape", "elements", "rows", "obograph"],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_one_document_of_json(read, document, indent):
    got = read("g.json", json.dumps(document, indent=indent))
    assert [(e["id"], e["label"]) for e in got.entities] == [("a", "Ann"), ("b", "Bob")]
    assert [triple[:3] for triple in got.triples] == TRIPLES


def test_links_may_name_nodes_by_place_and_hold_both_ways(read):
    nodes, links = [{"name": "Ann"}, {"name": "Bob"}], [{"source": 0, "target": 1, "value": 2}]
    got = read("g.json", json.dumps({"nodes": nodes, "links": links}))
    assert [triple[:3] for triple in got.triples] == [("Ann", "related to", "Bob")]
    assert got.left_out == {"other fields of links": 1}
    got = read("g.json", json.dumps({"directed": False, "nodes": NODES, "links": LINKS[:1]}))
    assert [triple[:3] for triple in got.triples] == [("a", "knows", "b"), ("b", "knows", "a")]


def test_ids_of_hetionet(read):
    nodes = [
        {"kind": "Gene", "identifier": 1576, "name": "CYP3A4", "data": {"chromosome": "7"}},
        {"kind": "Drug", "identifier": "DB1", "name": "Aspirin", "data": {}},
    ]
    ends = {"source_id": ["Drug", "DB1"], "target_id": ["Gene", 1576]}
    links = [
        {**ends, "kind": way, "direction": way, "data": {}}
        for way in ("both", "forward", "backward")
    ]
    got = read("g.json", json.dumps({"nodes": nodes, "edges": links}))
    assert [(e["id"], e["label"], e["types"]) for e in got.entities] == [
        ("Gene::1576", "CYP3A4", ["Gene"]),
        ("Drug::DB1", "Aspirin", ["Drug"]),
    ]
    assert [triple[:3] for triple in got.triples] == [
        ("Drug::DB1", "both", "Gene::1576"),
        ("Gene::1576", "both", "Drug::DB1"),
        ("Drug::DB1", "forward", "Gene::1576"),
        ("Gene::1576", "backward", "Drug::DB1"),
    ]
    assert not got.left_out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"nodes": 1}', 'lists "nodes" and "links"'),
        ('{\n "a": 1}', 'lists "nodes" and "links"'),
        ('{"nodes": [', "bad JSON"),
        ('{"nodes": ' + "[" * 100_000, "nested too deeply"),
        ('{"nodes": [{"id": "\\ud800"}]}', "surrogate"),
        ('{"nodes": [5]}', "a node is not an object"),
        ('{"nodes": [], "links": [{"source": 1}]}', "a link without source and target"),
    ],
)
def test_bad_documents_are_refused(read, text, words):
    with pytest.raises(BadInput, match=words):
        read("g.json", text)


def workbook(**sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    stored = io.BytesIO()
    book.save(stored)
    return stored.getvalue()


def test_excel(read):
    people = [["Id", "Name", "Age"], [1, "Ann", 40.0], [2, "Bob", None], [None, None, None]]
    knows = [["Source", "Target", "Type"], [1, 2, "knows"]]
    got = read("g.xlsx", workbook(People=people, Knows=knows, Notes=[["whatever", "else"]]))
    assert got.entities == [
        {"id": "1", "label": "Ann", "Age": "40"},
        {"id": "2", "label": "Bob", "Age": ""},
    ]
    assert got.triples == [("1", "knows", "2", "train")]
    assert got.left_out == {"sheets whose columns are not known: Notes": 1}
    assert "g.xlsx [People]: column 'Name' read as label" in got.notes
    named = {"head": "whatever", "tail": "else"}
    got = read("g.xlsx", workbook(Notes=[["whatever", "else"], ["a", "b"]]), columns=named)
    assert got.triples == [("a", "related to", "b", "train")]


def test_bad_workbooks_are_refused(read):
    with pytest.raises(BadInput, match="no columns of triples are known among: a"):
        read("g.xlsx", workbook(Sheet=[["a"], ["b"]]))
    with pytest.raises(BadInput, match="no sheet has a row"):
        read("g.xlsx", workbook(Sheet=[]))
    good = workbook(Sheet=[["source", "target"], ["a", "b"]])
    bad = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as packed, zipfile.ZipFile(bad, "w") as out:
        for name in packed.namelist():
            data = packed.read(name)
            if name == "xl/workbook.xml":
                data = b'<!DOCTYPE x [<!ENTITY a "a">]>' + data
            out.writestr(name, data)
    with pytest.raises(BadInput, match="declares a document type"):
        read("g.xlsx", bad.getvalue())


WORKBOOK = workbook(Sheet=[["source", "target"], ["a", "b"]])


@settings(max_examples=at_most(60))
@given(st.data())
def test_damaged_workbooks_are_refused_or_read(tmp_path_factory, collect, data):
    content = bytearray(WORKBOOK)
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("any") / "g.xlsx"
    path.write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    try:
        collect(open_source(path), skip=True)
    except KgraftError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message


def test_a_parquet_file_alone(tmp_path, collect):
    path = tmp_path / "g.parquet"
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3], "weight": [0.5, None]}), path)
    got = collect(open_source(path))
    assert [t[:3] for t in got.triples] == [("1", "related to", "2"), ("2", "related to", "3")]
    assert got.left_out == {"values of the column 'weight' of triples": 1}
    pq.write_table(pa.table({"id": [1], "name": ["Ann"]}), path)
    assert collect(open_source(path)).entities == [{"id": "1", "label": "Ann"}]
    pq.write_table(pa.table({"f0": ["a"], "f1": ["b"]}), path)
    with pytest.raises(BadInput, match=r"g\.parquet: .* f0 \| f1; name them: --columns"):
        open_source(path)
    got = collect(open_source(path, columns={"head": "f0", "tail": "f1"}))
    assert got.triples == [("a", "related to", "b", "train")]


GML = """Creator "me" # a comment
graph [
  directed 1
  node [ id 0 label "Ann &#233;" graphics [ x 1.0 ] ]
  node [
    id 1
    label "Bob"
    value 7
  ]
  edge [ source 0 target 1 label "knows" ]
  edge [ source 1 target 0 value 3 ]
]
"""


def test_gml(read):
    got = read("g.gml", GML)
    assert [(e["id"], e["label"], e["value"]) for e in got.entities] == [
        ("0", "Ann é", None),
        ("1", "Bob", "7"),
    ]
    assert got.lines == [4, 5]
    assert [triple[:3] for triple in got.triples] == [("0", "knows", "1"), ("1", "related to", "0")]
    assert got.left_out == {"nested fields of nodes": 1, "values of 'value' of edges": 1}
    undirected = read("g.gml", GML.replace("directed 1", "directed 0")).triples
    assert ("1", "knows", "0", "train") in undirected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("graph [", "ends within a list"),
        ("graph [ ] ]", "a ] too many"),
        ("[ ]", "a list without a name"),
        ('graph [ label "x', "a quote is never closed"),
        ("<gml/>", "this is XML"),
        ("a [ " * 200, "too deep"),
        ("graph [ edge [ source 1 ] ]", "an edge without source and target"),
    ],
)
def test_bad_gml_is_refused(read, text, words):
    with pytest.raises(BadInput, match=words):
        read("g.gml", text)


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml", "dot", "obo", "xlsx", "parquet"])
def test_formats_are_known_by_their_suffixes(tmp_path, suffix):
    (tmp_path / f"g.{suffix}").touch()
    assert find_format(tmp_path / f"g.{suffix}") == suffix
