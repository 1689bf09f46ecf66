"""Entities of XML files: abbreviations are read, those that expand without end are refused."""

import pytest

from kgraft.errors import BadInput
from kgraft.graph.io.rdf.source import RdfSource

PROLOG = '<?xml version="1.0"?><!-- <a> "&x;" --><!DOCTYPE rdf:RDF [ {} ]>'
BODY = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://e.org/">'
    '<rdf:Description rdf:about="&e;a"><x:knows rdf:resource="&e;b"/></rdf:Description></rdf:RDF>'
)
NAMESPACE = '<!ENTITY e "http://e.org/">'


def laughs(depth):
    return "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(depth))


def write(tmp_path, entities, body=BODY):
    (tmp_path / "g.rdf").write_text(PROLOG.format(entities) + body)
    return RdfSource(tmp_path / "g.rdf")


def test_abbreviations_of_namespaces(tmp_path, collect):
    entities = NAMESPACE + '<!ENTITY f "&e;more/">'
    [triple] = collect(write(tmp_path, entities, BODY.replace("&e;b", "&f;b"))).triples
    assert [str(part) for part in triple[:3]] == [
        "http://e.org/a",
        "http://e.org/knows",
        "http://e.org/more/b",
    ]


@pytest.mark.parametrize(
    "entities",
    [
        NAMESPACE + '<!ENTITY l0 "haha">' + laughs(12),
        NAMESPACE + '<!ENTITY e2 "' + "a" * 2000 + '">',
        NAMESPACE + "<!ENTITY % l0 'haha'>" + laughs(3).replace("&", "%"),
        f"<!-- {NAMESPACE}{laughs(9)} -->" + NAMESPACE.replace("http", "a" * 2000),
        "<!ENTITY b '<b>'>" + NAMESPACE.replace("http", "a" * 2000),
        "<!ENTITY l0 'haha'>" + laughs(3).replace('"', "'"),
    ],
)
def test_entities_that_expand_are_refused(tmp_path, collect, entities):
    with pytest.raises(BadInput, match="XML entity") as error:
        collect(write(tmp_path, entities))
    assert error.value.file == str(tmp_path / "g.rdf")


def test_single_quotes_and_other_declarations(tmp_path, collect):
    entities = (
        "<!-- it's <!ENTITY e 'no'> --><!ELEMENT a (b)>\n<!ENTITY % p SYSTEM 'http://e.org/dtd'>%p;"
        "<!ENTITY e 'http://e.org/'>\n<!ENTITY e 'http://second.org/'><!ENTITY f 'a \"quote\"'>"
    )
    body = BODY.replace('<x:knows rdf:resource="&e;b"/>', "<rdfs:comment>&f;</rdfs:comment>")
    body = body.replace("xmlns:x=", 'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:x=')
    got = collect(write(tmp_path, entities, body))
    assert got.texts("http://e.org/a") == [("description", 'a "quote"')]


@pytest.mark.parametrize("place", [0, len(BODY) - len("</rdf:RDF>")])
def test_entities_behind_the_beginning_are_refused(tmp_path, collect, place):
    late = '<!DOCTYPE rdf:RDF [ <!ENTITY e "' + "a" * 2000 + '"> ]>'
    with pytest.raises(BadInput, match="XML entity") as error:
        collect(write(tmp_path, NAMESPACE, BODY[:place] + late + BODY[place:]))
    assert error.value.file == str(tmp_path / "g.rdf")


@pytest.mark.parametrize(
    "entities", ["<!ENTITY e 'never closed>", "<!ENTITY e>\n<a/>", "\n<!what>"]
)
def test_a_declaration_that_is_none_is_told_by_its_line(tmp_path, collect, entities):
    with pytest.raises(BadInput) as error:
        collect(write(tmp_path, entities))
    assert error.value.line == 1 + entities.count("\n")


def test_a_prolog_that_hides_them_is_refused(tmp_path, collect):
    with pytest.raises(BadInput, match="no element begins"):
        collect(write(tmp_path, "<!-- " + "a" * (1 << 20) + " -->" + NAMESPACE))
