"""SPARQL: answers by id, and nothing fetched from elsewhere."""

import pytest

from kgraft.errors import BadInput
from kgraft.graph import query_sparql


def test_rows_hold_ids_and_texts(small):
    table = query_sparql(
        small,
        "SELECT ?x ?name ?no { ?x relation:P36 entity:Q4 ; rdfs:label ?name OPTIONAL {?x ?x ?no} }",
    )
    assert table.to_pylist() == [{"x": "Q1", "name": "Paris", "no": None}]


def test_ask_is_yes_or_no(small):
    assert query_sparql(small, "ASK { entity:Q4 relation:P47 entity:Q5 }") is True
    assert query_sparql(small, "ASK { entity:Q4 relation:P47 entity:Q1 }") is False


def test_construct_gives_triples(small):
    query = "CONSTRUCT { ?y relation:P36 ?x } WHERE { ?x relation:P36 ?y } ORDER BY ?x"
    rows = query_sparql(small, query, limit=1).to_pylist()
    assert rows == [{"head": "Q4", "relation": "P36", "tail": "Q1"}]


def test_only_the_limit_is_read(small):
    assert len(query_sparql(small, "SELECT * { ?x ?y ?z }", limit=3)) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://localhost/> { ?x ?y ?z } }",
        "SELECT * { service silent ?where { ?x ?y ?z } }",
        "SELECT * { \\u0053ERVICE <http://localhost/> { ?x ?y ?z } }",
        'SELECT * { ?a ?b """x\n y" """ . SERVICE <http://localhost/> {} # "\n }',
        "PREFIX : <http://localhost/> SELECT * { SERVICE :a { ?x ?y ?z } }",
    ],
)
def test_no_other_server_is_asked(small, query):
    with pytest.raises(BadInput, match="SERVICE"):
        query_sparql(small, query)


def test_the_word_alone_is_no_request(small):
    query = "SELECT * { ?x rdfs:label 'SERVICE <a>' ; <http://a/#SERVICE?> ?y } # SERVICE <b>"
    assert len(query_sparql(small, query)) == 0


def test_what_is_no_query_is_refused(small):
    with pytest.raises(BadInput, match="SPARQL"):
        query_sparql(small, "SELCT ?x")
