import pytest

from kgraft.errors import BadInput
from kgraft.graph import Graph, build_graph, open_source

PREFIXES = """\
@prefix : <http://e.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
"""


def build(folder, text, **options):
    (folder / "g.ttl").write_text(PREFIXES + text, "utf-8")
    build_graph(open_source(folder / "g.ttl", **options), folder / "g", overwrite=True)
    return Graph.open(folder / "g")


def facts(graph):
    entities, relations = graph.entities["id"].to_pylist(), graph.relations["id"].to_pylist()
    t = graph.triples
    rows = zip(t.head.tolist(), t.relation.tolist(), t.tail.tolist(), strict=True)
    return sorted(
        tuple(name.rpartition("/")[2] for name in (entities[h], relations[r], entities[e]))
        for h, r, e in rows
    )


def test_restrictions_lists_and_addresses_are_folded(tmp_path):
    graph = build(
        tmp_path,
        """:Pizza rdfs:subClassOf
          [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :Base ] ,
          [ a owl:Restriction ; owl:onProperty :has ;
            owl:allValuesFrom [ owl:unionOf ( :A :B :C ) ] ] .
        :shop :sells ( :Pizza :Cola ) ; :address [ :city :Rome ; :street "Via Appia" ] .""",
    )
    assert facts(graph) == [
        ("Pizza", "has", "A"),
        ("Pizza", "has", "B"),
        ("Pizza", "has", "Base"),
        ("Pizza", "has", "C"),
        ("shop", "city", "Rome"),
        ("shop", "sells", "Cola"),
        ("shop", "sells", "Pizza"),
    ]
    assert [v.words() for v in graph.card("http://e.org/shop").literals] == ["street: Via Appia"]
    assert not any(item.startswith("_:") for item in graph.entities["id"].to_pylist())
    assert graph.manifest.left_out == {"values of folded blank nodes: rdf:type": 2}


def test_the_items_of_a_list_that_nothing_leads_to_are_kept(tmp_path):
    rdf = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . "
    text = ':list rdf:first "one" ; rdf:rest [ rdf:first "two" ; rdf:rest rdf:nil ] .'
    graph = build(tmp_path, rdf + text)
    texts = [value.text for value in graph.literals("http://e.org/list")]
    assert sorted(texts) == ["one", "two"]


def test_blank_nodes_are_kept_or_dropped_by_option(tmp_path):
    text = ":a :p [ :q :b ] ; :r :c . [] :s :c ."
    assert facts(build(tmp_path, text)) == [("a", "q", "b"), ("a", "r", "c")]
    assert len(facts(build(tmp_path, text, blank_nodes="keep"))) == 4
    dropped = build(tmp_path, text, blank_nodes="drop")
    assert facts(dropped) == [("a", "r", "c")]
    assert sum(dropped.manifest.left_out.values()) == 3
    with pytest.raises(BadInput):
        build(tmp_path, text, blank_nodes="burn")


def test_named_and_shared_blank_nodes_are_entities(tmp_path):
    graph = build(
        tmp_path, ':a :knows [ foaf:name "Bob" ; :knows :c ] . :x :p _:s . :y :p _:s . _:s :q :z .'
    )
    assert len(facts(graph)) == 5
    assert [entity.id[:2] for entity in graph.find("Bob")] == ["_:"]


def test_circles_of_blank_nodes_end(tmp_path):
    graph = build(tmp_path, ":a :p :b . _:x :p _:y . _:y :p _:x .")
    assert facts(graph) == [("a", "p", "b")]


def test_pages_and_addresses_that_are_only_values_are_literals(tmp_path):
    graph = build(
        tmp_path,
        """:a foaf:mbox <mailto:a@e.org> ; foaf:homepage <http://e.org/home> ; :knows :b ;
             rdfs:seeAlso :b , <http://other.org/page> .""",
    )
    assert graph.entities["id"].to_pylist() == ["http://e.org/a", "http://e.org/b"]
    links = {v.text: v.kind for v in graph.literals("http://e.org/a")}
    assert links == dict.fromkeys(
        ["mailto:a@e.org", "http://e.org/home", "http://other.org/page"], "link"
    )
