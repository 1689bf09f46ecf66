import bz2
import gzip

import pytest

from kgraft.errors import BadInput
from kgraft.graph.batches import Refusals
from kgraft.graph.build import read_content
from kgraft.graph.io.rdf import source as rdf
from kgraft.graph.io.rdf.source import RdfSource
from kgraft.progress import Silent

XSD = "http://www.w3.org/2001/XMLSchema#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
PREFIXES = """\
@prefix : <http://e.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix kg: <urn:kgraft:> .
"""


def turtle(folder, text, *, lang="en"):
    path = folder / "g.ttl"
    path.write_text(PREFIXES + text, "utf-8")
    return RdfSource(path, lang=lang)


def ntriples(folder, text):
    path = folder / "g.nt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return RdfSource(path)


FORMATS = {
    ".nt": "<http://e.org/a> <http://e.org/r> <http://e.org/b> .\n"
    '<http://e.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A" .\n',
    ".nq": "<http://e.org/a> <http://e.org/r> <http://e.org/b> <http://e.org/g> .\n"
    '<http://e.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A" .\n',
    ".ttl": f"{PREFIXES}:a :r :b ; rdfs:label 'A' .",
    ".trig": f"{PREFIXES}:g {{ :a :r :b ; rdfs:label 'A' }}",
    ".rdf": """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<rdf:Description rdf:about="http://e.org/a"><e:r rdf:resource="http://e.org/b"/>
<rdfs:label>A</rdfs:label></rdf:Description></rdf:RDF>""",
    ".jsonld": '{"@id": "http://e.org/a", "http://e.org/r": {"@id": "http://e.org/b"}, '
    '"http://www.w3.org/2000/01/rdf-schema#label": "A"}',
}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    ("packed", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_every_format_says_the_same(tmp_path, collect, suffix, packed, pack):
    path = tmp_path / f"g{suffix}{packed}"
    path.write_bytes(pack(FORMATS[suffix].encode()))
    got = collect(RdfSource(path))
    assert got.triples == [("http://e.org/a", "http://e.org/r", "http://e.org/b", "train")]
    assert got.attributes == [("http://e.org/a", "label", "A", 1, None)]


def test_texts_types_and_literals(tmp_path, collect):
    got = collect(
        turtle(
            tmp_path,
            """:a rdfs:label "A"@en ; skos:altLabel "alt" ; schema:alternateName "other"@fr ;
            rdfs:comment "text"@en ; a :Kind ; :age 5 ; :knows :b , [ :knows :c ] .""",
        )
    )
    a = "http://e.org/a"
    assert got.texts(a) == [
        ("label", "A"),
        ("description", "text"),
        ("alias", "alt"),
        ("type", "http://e.org/Kind"),
        ("alias", "other"),
    ]
    assert not got.left_out
    assert (a, "http://e.org/age", "5", f"{XSD}integer") in got.literals
    assert (a, f"{RDFS}label", "A", "@en") in got.literals
    knows = "http://e.org/knows"
    assert got.triples == [
        (a, knows, "http://e.org/b", "train"),
        ("_:b1", knows, "http://e.org/c", "train"),
        (a, knows, "_:b1", "train"),
    ]


@pytest.mark.parametrize(
    ("lang", "names"),
    [
        ("en", ["Germany", "DE", "Deutschland", "Allemagne"]),
        ("fr", ["Allemagne", "DE", "Germany", "Deutschland"]),
        ("de-AT", ["DE", "Deutschland", "Germany", "Allemagne"]),
    ],
)
def test_the_language_ranks_labels(tmp_path, collect, lang, names):
    text = ':g rdfs:label "Deutschland"@de , "Germany"@en , "Allemagne"@fr , "DE" .'
    got = collect(turtle(tmp_path, text, lang=lang))
    assert [value for _, value in got.texts("http://e.org/g")] == names


def test_the_same_label_is_taken_once_with_its_best_rank(tmp_path, collect):
    text = ':g skos:prefLabel "X"@de ; rdfs:label "X"@en ; schema:name "X"@fr .'
    got = collect(turtle(tmp_path, text))
    assert got.attributes == [("http://e.org/g", "label", "X", 0, None)]


def test_wikidata_keeps_facts_and_leaves_bookkeeping_out(tmp_path, collect):
    got = collect(
        turtle(
            tmp_path,
            """wd:Q42 a wikibase:Item ; wikibase:sitelinks 9 ; rdfs:label "Douglas Adams"@en ;
              wdt:P31 wd:Q5 ; wdt:P19 wd:Q350 ; p:P31 wds:Q42-1 ;
              wdt:P20 <http://www.wikidata.org/.well-known/genid/1> .
            wds:Q42-1 a wikibase:Statement ; ps:P31 wd:Q5 ; pq:P580 wd:Q1 .
            wd:P31 a wikibase:Property ; rdfs:label "instance of"@en ; wdt:P1629 wd:Q21503252 .
            <https://en.wikipedia.org/wiki/Douglas_Adams> a schema:Article ;
              schema:about wd:Q42 ; schema:name "Douglas Adams"@en .""",
        )
    )
    assert got.triples == [("Q42", "P31", "Q5", "train"), ("Q42", "P19", "Q350", "train")]
    assert got.attributes == [
        ("P31", "label", "instance of", 0, "relation"),
        ("Q42", "label", "Douglas Adams", 0, None),
        ("Q42", "type", "Q5", 1, None),
    ]
    assert got.literals == [("Q42", "http://wikiba.se/ontology#sitelinks", "9", f"{XSD}integer")]
    assert got.left_out["Wikidata's bookkeeping"] == 8


PAGE = "https://en.wikipedia.org/wiki/Douglas_Adams"
SITELINK = [
    f"<{PAGE}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Article> .",
    f"<{PAGE}> <http://schema.org/about> <http://www.wikidata.org/entity/Q42> .",
    f'<{PAGE}> <http://schema.org/inLanguage> "en" .',
    f"<{PAGE}> <http://schema.org/isPartOf> <https://en.wikipedia.org/> .",
    f'<{PAGE}> <http://schema.org/name> "Douglas Adams"@en .',
]


@pytest.mark.parametrize("block", [1, 150, 1 << 22])
@pytest.mark.parametrize("lines", [SITELINK, SITELINK[::-1], SITELINK[:3] + SITELINK[4:]])
def test_pages_of_wikidata_are_left_out_wherever_a_block_ends(
    tmp_path, collect, monkeypatch, lines, block
):
    monkeypatch.setattr(rdf, "BLOCK", block)
    other = f"<http://e.org/a> <http://e.org/r> <{PAGE}> ."
    got = collect(ntriples(tmp_path, "\n".join([*lines, other, ""])))
    assert got.triples == [("http://e.org/a", "http://e.org/r", PAGE, "train")]
    assert got.attributes == []
    assert got.left_out == {"Wikidata's bookkeeping": len(lines)}


@pytest.mark.parametrize("block", [1, 1 << 22])
def test_what_others_say_about_pages_is_kept(tmp_path, collect, monkeypatch, block):
    monkeypatch.setattr(rdf, "BLOCK", block)
    said = [SITELINK[0], f"<{PAGE}> <http://schema.org/about> <http://e.org/a> .", SITELINK[4]]
    got = collect(ntriples(tmp_path, "\n".join(said)))
    assert got.triples == [(PAGE, "http://schema.org/about", "http://e.org/a", "train")]
    assert got.texts(PAGE) == [("label", "Douglas Adams"), ("type", "http://schema.org/Article")]
    assert not got.left_out


def test_in_a_file_of_ours_nothing_is_bookkeeping(tmp_path, collect):
    type_ = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    got = collect(
        ntriples(
            tmp_path,
            '<urn:kgraft:graph> <urn:kgraft:format> "1" .\n'
            f"<{PAGE}> <http://wikiba.se/ontology#r> <http://www.wikidata.org/value/1> .\n"
            f"<{PAGE}> <http://schema.org/about> <http://www.wikidata.org/entity/Q42> .\n"
            f"<{PAGE}> {type_} <http://wikiba.se/ontology#Item> .\n",
        )
    )
    assert got.triples == [
        (PAGE, "http://wikiba.se/ontology#r", "http://www.wikidata.org/value/1", "train"),
        (PAGE, "http://schema.org/about", "Q42", "train"),
    ]
    assert got.texts(PAGE) == [("type", "http://wikiba.se/ontology#Item")]
    assert not got.left_out


def test_reified_statements_carry_splits(tmp_path, collect):
    got = collect(
        turtle(
            tmp_path,
            """[] a rdf:Statement ; rdf:subject :a ; rdf:predicate :r ; rdf:object :b ;
              kg:split "valid" .
            [] a rdf:Statement ; rdf:subject :a ; rdf:predicate :r ; rdf:object :c .""",
        )
    )
    a, r, b = ("http://e.org/a", "http://e.org/r", "http://e.org/b")
    assert got.triples == [(a, r, b, "valid")]
    assert got.left_out == {"statements about statements": 1}


def test_blank_nodes_keep_their_names_in_ntriples(tmp_path, collect):
    got = collect(ntriples(tmp_path, "_:x <http://e.org/r> _:y .\n"))
    assert got.triples == [("_:x", "http://e.org/r", "_:y", "train")]


LINES = [
    "<http://e.org/a> <http://e.org/r> <http://e.org/b> .",
    "# a comment",
    "<http://e.org/a> <http://e.org/r> .",
    '<http://e.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A\\n\\u00e9" .',
    "<http://e.org/a b> <http://e.org/r> <http://e.org/b> .",
    "<http://e.org/\\u0061> <http://e.org/r> <http://e.org/c> .",
    "<http://e.org/c>\t<http://e.org/r>   <http://e.org/d>.",
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [1, 100, 1 << 22])
def test_bad_lines_are_skipped_or_named(tmp_path, collect, monkeypatch, block, end):
    monkeypatch.setattr(rdf, "BLOCK", block)
    data = end.join(LINES).encode() + b'\n<http://e.org/a> <http://e.org/r> "\xff" .\n'
    reader = ntriples(tmp_path, data)
    with pytest.raises(BadInput) as raised:
        collect(reader)
    assert raised.value.line == 3
    got = collect(reader, skip=True)
    assert got.refused == {"bad RDF": 2, "invalid UTF-8": 1}
    heads = sorted((head[-1], tail[-1]) for head, _, tail, _ in got.triples)
    assert heads == [("a", "b"), ("a", "c"), ("c", "d")]
    assert got.texts("http://e.org/a") == [("label", "A\né")]


def test_an_error_in_turtle_ends_the_import(tmp_path, collect):
    with pytest.raises(BadInput, match=r"g\.ttl:15: bad RDF: .*only N-Triples and N-Quads"):
        collect(turtle(tmp_path, ":a :r :b .\n:a :r ; .\n"), skip=True)


def test_a_message_quotes_no_whole_file(tmp_path, collect):
    (tmp_path / "g.rdf").write_text("0.1 i 0.2 RDF " * 1000)
    with pytest.raises(BadInput) as error:
        collect(RdfSource(tmp_path / "g.rdf"))
    assert len(error.value.reason) < 250


def test_truncated_gzip_is_no_rdf_error(tmp_path, collect):
    for suffix in (".nt", ".ttl"):
        path = tmp_path / f"g{suffix}.gz"
        path.write_bytes(gzip.compress(FORMATS[suffix].encode() * 50)[:-9])
        with pytest.raises(BadInput, match="gzip file is truncated"):
            collect(RdfSource(path), skip=True)


def test_an_unknown_suffix_lists_the_known_ones(tmp_path, collect):
    (tmp_path / "g.n4").touch()
    with pytest.raises(BadInput, match=r"suffix \.n4; use one of \.nt \.nq"):
        collect(RdfSource(tmp_path / "g.n4"))


def test_predicates_with_types_and_labels_are_described_as_relations_and_entities(tmp_path):
    source = turtle(
        tmp_path,
        """:knows a rdf:Property , :Kind , :Kind ; rdfs:domain :Person .
        :a :knows :b ; a :RareKind , <http://other.org/RareKind> .""",
    )
    content = read_content(source, Refusals(), Silent())
    relations = {row["id"]: row for row in content.relations.to_pylist()}
    assert relations["http://e.org/knows"]["types"] == ["property", "Kind"]
    entities = {row["id"]: row for row in content.entities.to_pylist()}
    assert entities["http://e.org/knows"]["types"] == ["property", "Kind"]
    assert entities["http://e.org/a"]["types"] == ["Rare Kind"]
    assert entities["http://e.org/a"]["label"] == "a"
