"""What comes from RDF goes back to RDF: other tools read the same statements."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse, serialize
from tests.random_inputs import at_most

from kgraft.graph import Graph, TablesSource, build_graph, check_graph, export_graph, open_source
from kgraft.graph.io.rdf.iris import RDF

PREFIXES = """\
@prefix : <http://e.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <https://schema.org/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix wd: <http://www.wikidata.org/entity/> .
"""
DOCUMENTS = [
    ':a rdfs:label "A"@en , "B"@de , "A" ; skos:altLabel "A" , "c"@fr ; '
    'rdfs:comment "x" , "y"@en .',
    ':a rdfs:label "one" , "two" ; rdfs:comment "three" , "four" .',
    'foaf:knows a rdf:Property , :Kind ; rdfs:label "knows"@en ; rdfs:domain foaf:Person . '
    ":a foaf:knows :b ; a foaf:Person .",
    ':r a rdf:Property ; rdfs:label "r" ; rdfs:comment "only a relation"@en . :a :r :b .',
    ':a :n 1 , 1.0 , 1e0 , true ; :s "line\\nfeed \\"quoted\\" \\\\" , "tab\\t" , "" .',
    ":a foaf:mbox <mailto:a@e.org> ; foaf:homepage <http://e.org/h> ; rdfs:seeAlso :b . :b :p :a .",
    ':a schema:name "Q"@en ; schema:about wd:Q42 ; schema:sameAs <file:///tmp/x> ; dct:title "t" .',
    ':a_b a :Camel_Case ; :p :camelCase . :camelCase rdfs:label "camel case" .',
    ":a rdfs:label :b ; rdf:value 5 .",
    ":s a rdf:Statement ; rdf:subject :a ; rdf:predicate :p ; rdf:object :b . :a :p :b .",
    ":a :same <https://www.wikidata.org/entity/Q1> , <https://www.wikidata.org/prop/P2> , "
    "<http://www.wikidata.org/entity/Q1Q2> , <http://www.wikidata.org/entity/Q1> , "
    "<http://a_b.org/x> . <https://www.wikidata.org/about#x> :p :a .",
    ':a rdfs:label "buku"@id ; :note "catatan"@id .',
]


def statements(path, syntax):
    with path.open("rb") as file:
        quads = list(parse(file, syntax))
    triples = ((q.subject, q.predicate, q.object) for q in quads)
    return {t for t in triples if not any(isinstance(part, BlankNode) for part in t)}


def round_trip(path, folder, suffix=".nt"):
    build_graph(open_source(path), folder / "g")
    assert check_graph(folder / "g") == []
    export_graph(Graph.open(folder / "g"), folder / f"out{suffix}")
    return folder / f"out{suffix}"


@pytest.mark.slow
@pytest.mark.parametrize("text", DOCUMENTS)
def test_statements_come_back(tmp_path, text):
    (tmp_path / "g.ttl").write_text(PREFIXES + text, "utf-8")
    before = statements(tmp_path / "g.ttl", RdfFormat.TURTLE)
    out = round_trip(tmp_path / "g.ttl", tmp_path)
    assert statements(out, RdfFormat.N_TRIPLES) == before
    (tmp_path / "again").mkdir()
    again = round_trip(out, tmp_path / "again")
    assert statements(again, RdfFormat.N_TRIPLES) == before


@pytest.mark.slow
@pytest.mark.parametrize("text", DOCUMENTS)
def test_statements_come_back_in_turtle(tmp_path, text):
    (tmp_path / "g.ttl").write_text(PREFIXES + text, "utf-8")
    out = round_trip(tmp_path / "g.ttl", tmp_path, ".ttl")
    before = statements(tmp_path / "g.ttl", RdfFormat.TURTLE)
    assert statements(out, RdfFormat.TURTLE) == before
    assert "rdfs:label" in out.read_text("utf-8") or "rdfs:label" not in text


IRI = st.sampled_from(
    [
        *(f"http://e.org/{name}" for name in ("a", "b", "camelCase", "Under_score", "x%20y")),
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://xmlns.com/foaf/0.1/Person",
        "urn:isbn:1",
    ]
).map(NamedNode)
PREDICATE = st.sampled_from(
    [
        "http://e.org/p",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2000/01/rdf-schema#comment",
        "http://www.w3.org/2004/02/skos/core#altLabel",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://xmlns.com/foaf/0.1/homepage",
    ]
).map(NamedNode)
TEXT = st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from(["a", "camel case"])
LITERAL = (
    TEXT.map(Literal)
    | st.builds(lambda text, tag: Literal(text, language=tag), TEXT, st.sampled_from(["en", "de"]))
    | st.builds(lambda text, kind: Literal(text, datatype=kind), TEXT, IRI)
)


@pytest.mark.slow
@settings(max_examples=at_most(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.builds(Quad, IRI, PREDICATE, IRI | LITERAL), min_size=1, max_size=12))
def test_any_statements_come_back(quads):
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "g.nt")
        path.write_bytes(serialize([q.triple for q in quads], format=RdfFormat.N_TRIPLES))
        before = statements(path, RdfFormat.N_TRIPLES)
        assert statements(round_trip(path, Path(made)), RdfFormat.N_TRIPLES) == before
        export_graph(Graph.open(Path(made, "g")), Path(made, "g.ttl"))
        assert statements(Path(made, "g.ttl"), RdfFormat.TURTLE) == before


def test_values_of_tables_come_back(tmp_path):
    rows = [
        ("a", "mass", "3", "kg", ""),
        ("a", "page", "no address", "@id", ""),
        ("a", "page", "http://e.org/a", "@id", ""),
        ("a", "note", "x", "", "??"),
    ]
    build_graph(TablesSource([("a", "r", "_:b0")], literals=rows), tmp_path / "g")
    export_graph(Graph.open(tmp_path / "g"), tmp_path / "g.nt")
    build_graph(open_source(tmp_path / "g.nt"), tmp_path / "again")
    found = [(v.text, v.kind, v.unit) for v in Graph.open(tmp_path / "again").literals("a")]
    assert sorted(found) == [
        ("3", "quantity", "kg"),
        ("http://e.org/a", "link", ""),
        ("no address", "link", ""),
        ("x", "string", ""),
    ]


def test_parts_of_statements_may_be_relations_of_blank_nodes(tmp_path):
    triples = [("_:b0", f"{RDF}subject", "a"), ("_:b0", "r", "b", "valid")]
    build_graph(TablesSource(triples), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    export_graph(graph, tmp_path / "g.nt")
    build_graph(open_source(tmp_path / "g.nt"), tmp_path / "again")
    assert Graph.open(tmp_path / "again").manifest.version == graph.manifest.version
