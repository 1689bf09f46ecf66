from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.batches import ENTITY_SCHEMA, RELATION_SCHEMA, Refusals
from kgraft.graph.build import read_content
from kgraft.graph.io.rdf.source import RdfSource
from kgraft.graph.io.writers import ntriples
from kgraft.graph.io.writers.ntriples import write_ntriples
from kgraft.graph.literals import LiteralTables
from kgraft.progress import Silent

TRICKY = [
    "Q1",
    "New York",
    'say "hi"\\',
    "line\nfeed\r\ttab",
    "Zürich 😀",
    "_:b1",
    "http://example.org/a",
    "http://dbpedia.org/resource/Münster",
    "http://www.wikidata.org/entity/Q42",
    "http://no host/",
    "http://a:b/#c#d",
    "urn:kgraft:entity:Q1",
    "urn:kgraft:Entity",
    "100%",
    "%41",
    "\x00\u2028",
    "GO:0008150",
]


def graph_of(entities, relations, triples):
    """A stand-in with what `write_ntriples` uses of a graph."""
    schema = [(f.name, f.type) for f in ENTITY_SCHEMA]
    extras = {name for row in entities for name in row} - set(ENTITY_SCHEMA.names)
    table = pa.Table.from_pylist(
        entities, pa.schema(schema + [(n, pa.string()) for n in sorted(extras)])
    )
    head, relation, tail, split = np.array(triples, np.int32).reshape(-1, 4).T
    named = pa.Table.from_pylist(relations, RELATION_SCHEMA)
    return SimpleNamespace(
        entities=table,
        relations=named,
        triples=TripleArrays(head, relation, tail, split.astype(np.int8)),
        literal_tables=LiteralTables.empty(),
        manifest=SimpleNamespace(source="rows (tables)"),
    )


def entity(name, **fields):
    row = {"id": name, "label": name, "description": "", "aliases": [], "types": []}
    return {**row, "name_counts": None, **fields}


def relation(name, **fields):
    return {"id": name, "label": name, "description": "", "aliases": [], "types": [], **fields}


def round_trip(graph, path):
    write_ntriples(graph, path, progress=Silent())
    return read_content(RdfSource(path), Refusals(), Silent())


def assert_same(graph, content):
    assert content.entities.to_pylist() == graph.entities.to_pylist()
    assert [{"types": [], **row} for row in content.relations.to_pylist()] == (
        graph.relations.to_pylist()
    )
    rows = [
        sorted(
            zip(
                *(getattr(t, n).tolist() for n in ("head", "relation", "tail", "split")),
                strict=True,
            )
        )
        for t in (graph.triples, content.triples)
    ]
    assert rows[0] == rows[1]


def test_every_kind_of_id_comes_back(tmp_path):
    entities = [entity(name) for name in TRICKY]
    relations = [relation(name) for name in reversed(TRICKY)]
    triples = [(i, len(TRICKY) - 1 - i, 0, i % 3) for i in range(len(TRICKY))]
    graph = graph_of(entities, relations, triples)
    assert_same(graph, round_trip(graph, tmp_path / "g.nt"))


def test_texts_counts_types_and_columns_come_back(tmp_path):
    graph = graph_of(
        [
            entity("a", label="A", aliases=["A", "b", "b"], name_counts=[25, 3, 0, 1], empty=""),
            entity("A", types=["http://schema.org/Person", "a", "kind of\n"], empty=""),
            entity("c", description='a "quoted" \\ text', empty=""),
        ],
        [relation("r", aliases=["rel", "r"], description="d"), relation("http://e.org/unused")],
        [(0, 0, 1, 0), (1, 0, 1, 2)],
    )
    content = round_trip(graph, tmp_path / "g.nt")
    assert_same(graph, content)
    assert content.entities.column_names[-1] == "empty"


def test_held_out_triples_are_no_plain_statements(tmp_path):
    graph = graph_of([entity("a"), entity("b")], [relation("r")], [(0, 0, 1, 0), (1, 0, 0, 1)])
    write_ntriples(graph, tmp_path / "g.nt", progress=Silent())
    lines = (tmp_path / "g.nt").read_text("utf-8").splitlines()
    plain = [
        line for line in lines if " <urn:kgraft:relation:r> <" in line and "rdf-syntax" not in line
    ]
    assert plain == ["<urn:kgraft:entity:a> <urn:kgraft:relation:r> <urn:kgraft:entity:b> ."]


def test_blocks_join_up(tmp_path, monkeypatch):
    monkeypatch.setattr(ntriples, "ROWS", 3)
    names = [f"e{i}" for i in range(10)]
    graph = graph_of(
        [entity(n, aliases=[n] * (i % 3), note=n) for i, n in enumerate(names)],
        [relation("r")],
        [(i, 0, 9 - i, i % 3) for i in range(10)],
    )
    assert_same(graph, round_trip(graph, tmp_path / "g.nt"))


TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
NAME = TEXT.filter(bool) | st.sampled_from(TRICKY)


@pytest.mark.slow
@settings(max_examples=at_most(60), deadline=None)
@given(st.data())
def test_any_graph_comes_back(tmp_path_factory, data):
    ids = data.draw(st.lists(NAME, min_size=1, max_size=6, unique=True))
    names = data.draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    entities = [
        entity(
            name,
            label=data.draw(NAME),
            description=data.draw(TEXT),
            aliases=data.draw(st.lists(TEXT, max_size=3)),
            types=data.draw(st.lists(NAME, max_size=2)),
            note=data.draw(TEXT),
        )
        for name in ids
    ]
    number = st.integers(0, len(ids) - 1)
    triple = st.tuples(number, st.integers(0, len(names) - 1), number, st.integers(0, 2))
    graph = graph_of(
        entities, [relation(n) for n in names], data.draw(st.lists(triple, max_size=5))
    )
    assert_same(graph, round_trip(graph, tmp_path_factory.mktemp("any") / "g.nt"))
