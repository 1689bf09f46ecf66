"""What is exported imports as the same graph: the version, a hash of the content, is equal."""

import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft import arrow_files
from kgraft.errors import BadInput
from kgraft.graph import (
    SPLITS,
    Graph,
    build_graph,
    export_graph,
    open_source,
    to_edge_index,
    to_labelled_triples,
    to_networkx,
)
from kgraft.graph.batches import ENTITY_SCHEMA, RELATION_SCHEMA
from kgraft.graph.io.rdf import source as rdf
from kgraft.graph.io.tables import delimited, in_memory, row_batches
from kgraft.graph.io.tables.in_memory import TablesSource, from_networkx

FORMATS = {"tsv": "g", "ntriples": "g.nt", "parquet": "g", "jsonl": "g.jsonl"}
AWKWARD = [
    'say "hi"',
    "it's",
    "a|b",
    "a\tb",
    "one\ntwo",
    "one\r\ntwo\r",
    "C:\\new\\table",
    r"\u007C",
    "\\",
    "Zürich 😀 北京",
    "\u2028\u0085\x0b",
    "\x00",
    "\ufeffx",
    " padded ",
    "null",
    "-1",
    "http://example.org/a?b=c#d",
    "_:b0",
]
RESERVED = {*ENTITY_SCHEMA.names, "alias", "type", "kind"}
TEXT = st.text(st.characters(codec="utf-8"), max_size=5) | st.sampled_from(AWKWARD)
NAME = TEXT.filter(bool)
EXTRAS = st.lists(NAME.filter(lambda name: name not in RESERVED), max_size=2, unique=True)


TAKEN = st.builds(
    str.__add__,
    st.sampled_from(
        [
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
            "http://www.w3.org/2000/01/rdf-schema#",
            "http://www.w3.org/2004/02/skos/core#",
            "http://schema.org/",
            "https://schema.org/",
            "http://xmlns.com/foaf/0.1/",
            "http://purl.org/dc/terms/",
            "http://purl.org/dc/elements/1.1/",
            "http://wikiba.se/ontology#",
            "http://www.wikidata.org/entity/",
            "http://www.wikidata.org/entity/statement/",
            "http://www.wikidata.org/prop/direct/",
            "https://www.wikidata.org/wiki/Special:EntityData/",
            "urn:kgraft:",
            "urn:kgraft:entity:",
        ]
    ),
    st.sampled_from(["", "type", "subject", "Statement", "label", "altLabel", "name", "about"])
    | st.sampled_from(["isPartOf", "description", "Q42", "P31", "Entity", "graph", "split"]),
)


LANGUAGES = st.sampled_from(["en", "de-AT", "id"])
DATATYPES = st.sampled_from(
    [
        "http://www.w3.org/2001/XMLSchema#integer",
        "http://www.w3.org/2001/XMLSchema#date",
        "http://www.wikidata.org/entity/Q11573",
        "@id",
    ]
)


@st.composite
def values(draw, entities, relations):
    """Rows of literals of entities and relations, of every kind of property and datatype."""
    known = st.sampled_from([*entities, *relations])

    def row():
        of = draw(st.sampled_from(["entity", "relation"]))
        subject = draw(st.sampled_from(entities if of == "entity" else relations))
        kinds = [{}, {"language": draw(LANGUAGES)}, {"datatype": draw(DATATYPES)}]
        return {
            **dict.fromkeys(["entity", "relation", "datatype", "language"], ""),
            "property": draw(known | NAME),
            "property_label": draw(TEXT),
            "value": draw(TEXT),
            of: subject,
            **draw(st.sampled_from(kinds)),
        }

    return [row() for _ in range(draw(st.integers(0, 4)))]


@st.composite
def contents(draw, names=NAME):
    """Rows of a small graph with every kind of text, column, count, split and value."""
    extras, more = draw(EXTRAS), draw(EXTRAS)
    counted = draw(st.booleans())

    def entity(key):
        aliases = draw(st.lists(NAME, max_size=2))
        size = 1 + len(aliases)
        counts = st.none() | st.lists(st.integers(0, 10**9), min_size=size, max_size=size)
        return {
            "id": key,
            "label": draw(TEXT),
            "description": draw(TEXT),
            "aliases": aliases,
            "types": draw(st.lists(names, max_size=2)),
            "name_counts": draw(counts) if counted else None,
            **{name: draw(TEXT) for name in extras},
        }

    def relation(key):
        texts = {"label": draw(TEXT), "description": draw(TEXT)}
        names = {"aliases": draw(st.lists(NAME, max_size=2))}
        return {"id": key, **texts, **names, **{name: draw(TEXT) for name in more}}

    entities = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    relations = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    end, by = st.sampled_from(entities), st.sampled_from(relations)
    triples = draw(st.lists(st.tuples(end, by, end, st.sampled_from(SPLITS)), max_size=6))
    rows = [entity(key) for key in entities], [relation(key) for key in relations]
    return triples, *rows, draw(values(entities, relations))


def table(schema, rows):
    extras = [(name, pa.string()) for name in rows[0] if name not in schema.names]
    return pa.Table.from_pylist(rows, pa.schema([*((f.name, f.type) for f in schema), *extras]))


def source_of(triples, entities, relations, literals):
    tables = table(ENTITY_SCHEMA, entities), table(RELATION_SCHEMA, relations)
    return TablesSource(triples, *tables, literals)


def build(source, target):
    build_graph(source, target)
    return Graph.open(target)


def without_values(content):
    """The same content without literals, for the formats that do not bring them back exactly."""
    return *content[:3], None


def literals_of(graph):
    """The values of all entities and relations, in order."""
    tables = graph.literal_tables
    names, datatypes = tables.keys()
    labels = tables.properties["label"].take(tables.literals["property"]).to_pylist()
    columns = tables.entity, names.to_pylist(), labels, datatypes.to_pylist()
    return list(zip(*columns, tables.literals["value"].to_pylist(), strict=True))


def round_trip(graph, folder, format):
    target = folder / FORMATS[format]
    assert export_graph(graph, target, format=format) == format
    return build(open_source(target), folder / "again")


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=at_most(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=contents())
def test_any_graph_comes_back(format, content):
    with tempfile.TemporaryDirectory() as made:
        content = without_values(content) if format == "ntriples" else content
        graph = build(source_of(*content), Path(made, "graph"))
        again = round_trip(graph, Path(made), format)
        assert literals_of(again) == literals_of(graph)
        assert again.entities.to_pylist() == graph.entities.to_pylist()
        assert again.relations.to_pylist() == graph.relations.to_pylist()
        assert again.manifest.version == graph.manifest.version
        assert again.manifest.priors == graph.manifest.priors


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_the_version_does_not_depend_on_the_blocks_read(tmp_path, monkeypatch, make_graph, format):
    monkeypatch.setattr(arrow_files, "_ROWS", 16)
    entities = [
        {
            "id": f"e{i}",
            "aliases": [f"n{i}"] * (i % 3),
            "name_counts": [i] * (1 + i % 3) if i % 4 else None,
            "note": "x" * (i % 2),
        }
        for i in range(40)
    ]
    triples = [(f"e{i}", f"r{i % 5}", f"e{39 - i}", SPLITS[i % 3]) for i in range(40)]
    graph = make_graph(tmp_path, triples, entities)
    for module, name, size in (
        (delimited, "BLOCK", 100),
        (row_batches, "ROWS", 7),
        (in_memory, "ROWS", 7),
        (rdf, "BLOCK", 300),
    ):
        monkeypatch.setattr(module, name, size)
    assert round_trip(graph, tmp_path, format).manifest.version == graph.manifest.version


def test_a_column_named_kind_goes_everywhere_but_into_json_lines(tmp_path, make_graph):
    graph = make_graph(tmp_path, [("a", "r", "a")], [{"id": "a", "types": ["x"], "kind": "letter"}])
    for format in ("tsv", "ntriples", "parquet"):
        place = tmp_path / format
        place.mkdir()
        assert round_trip(graph, place, format).manifest.version == graph.manifest.version
    with pytest.raises(BadInput, match=r"column 'kind'.*; export as tsv, parquet or ntriples"):
        export_graph(graph, tmp_path / "g.jsonl")
    assert not list(tmp_path.glob("g.jsonl*"))


def id_triples(graph):
    """All triples by id, with their split, in order."""
    entities, relations = (t["id"].to_pylist() for t in (graph.entities, graph.relations))
    facts = graph.triples
    columns = (facts.head, facts.relation, facts.tail, facts.split)
    return sorted(
        (entities[h], relations[r], entities[t], SPLITS[s])
        for h, r, t, s in zip(*columns, strict=True)
    )


@pytest.mark.slow
@settings(max_examples=at_most(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=contents(names=TAKEN))
def test_ids_that_mean_something_in_rdf_come_back_as_ids(content):
    with tempfile.TemporaryDirectory() as made:
        graph = build(source_of(*without_values(content)), Path(made, "graph"))
        again = round_trip(graph, Path(made), "ntriples")
        assert again.entities.to_pylist() == graph.entities.to_pylist()
        assert again.manifest.version == graph.manifest.version
        assert not again.manifest.left_out
        if not len(graph.triples):
            return  # without the comments such a file may say nothing
        rest = Path(made, "g.nt").read_text("utf-8").partition("\n")[2]
        Path(made, "unmarked.nt").write_text(rest, "utf-8", newline="")
        unmarked = build(open_source(Path(made, "unmarked.nt")), Path(made, "unmarked"))
        assert id_triples(unmarked) == id_triples(graph)


def once(triples):
    """Whether no triple stands in two splits (which a NetworkX graph cannot hold)."""
    return len({triple[:3] for triple in triples}) == len(triples)


@pytest.mark.slow
@settings(max_examples=at_most(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=contents())
def test_networkx_keeps_triples_and_texts(content):
    with tempfile.TemporaryDirectory() as made:
        graph = build(source_of(*content), Path(made, "graph"))
        assume(once(id_triples(graph)))
        again = build(from_networkx(to_networkx(graph)), Path(made, "again"))
        assert id_triples(again) == id_triples(graph)
        columns = ["id", "label", "description", "aliases", "types"]
        assert again.entities.select(columns).equals(graph.entities.select(columns))


def test_networkx_keeps_values(tmp_path):
    values = [("a", "size", 2), ("a", "day", date(1990, 5, 1)), ("a", "tag", "x"), ("a", "tag", 3)]
    entities = [{"id": "a", "note": "hello", "label": "A"}, {"id": "b"}]
    graph = build(TablesSource([("a", "r", "b")], entities, None, values), tmp_path / "g")
    made = to_networkx(graph)
    texts = {"label": "A", "description": "", "aliases": [], "types": []}
    others = {"note": "hello", "size": 2, "day": date(1990, 5, 1), "tag": ["x", 3]}
    assert made.nodes["a"] == texts | others
    made.nodes["b"]["shape"] = {"x": 1}
    again = build(from_networkx(made), tmp_path / "again")
    assert again.entities["size"].to_pylist() == ["2", ""]
    assert again.entities["day"].to_pylist() == ["1990-05-01", ""]
    assert [value.value for value in again.literals("a") if value.property_id == "tag"] == ["x", 3]
    left_out = "attribute 'shape' of 1 nodes is neither text, number nor date: left out"
    assert left_out in again.manifest.notes


def test_edge_index_counts_the_triples_of_a_split(small):
    edge_index, edge_type = to_edge_index(small)
    assert (edge_index.shape, edge_index.dtype) == ((2, 12), np.int64)
    assert (edge_type.shape, edge_type.dtype) == ((12,), np.int64)
    first = [tuple(column) for column in edge_index.T[:2].tolist()]
    assert first == [(0, 3), (0, 3)]
    assert edge_type[:2].tolist() == [0, 1]
    assert to_edge_index(small.split("test"))[0].tolist() == [[10], [3]]


def test_labelled_triples_are_ids(small):
    triples = to_labelled_triples(small)
    assert triples.shape == (12, 3)
    assert sorted(map(tuple, triples.tolist())) == [t[:3] for t in id_triples(small)]


def test_labelled_triples_of_a_graph_without_triples(tmp_path, make_graph):
    graph = make_graph(tmp_path, [], [{"id": "a"}])
    assert to_labelled_triples(graph).shape == (0, 3)
    assert to_edge_index(graph)[0].shape == (2, 0)


@pytest.mark.parametrize("format", FORMATS)
def test_a_graph_without_triples_comes_back(tmp_path, make_graph, format):
    graph = make_graph(tmp_path, [], [{"id": "a", "label": "A"}])
    again = round_trip(graph, tmp_path, format)
    assert again.manifest.version == graph.manifest.version
    assert again.find("A")[0].id == "a"


def test_a_split_is_exported_alone(tmp_path, small):
    export_graph(small.split("train"), tmp_path / "train")
    again = build(open_source(tmp_path / "train"), tmp_path / "again")
    assert again.manifest.splits == {"train": 10, "valid": 0, "test": 0}
    assert again.manifest.entities == 12


@pytest.mark.slow
@settings(max_examples=at_most(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=contents())
def test_pykeen_files_are_headerless_and_come_back(content):
    with tempfile.TemporaryDirectory() as made:
        graph, target = build(source_of(*content), Path(made, "graph")), Path(made, "pykeen")
        triples = id_triples(graph)
        assume(triples and not any(head.startswith("\ufeff") for head, *_ in triples))
        export_graph(graph, target, format="pykeen")
        lines = [line for file in target.iterdir() for line in file.read_bytes().split(b"\n")[:-1]]
        assert [line.count(b"\t") for line in lines] == [2] * len(triples)
        assert id_triples(build(open_source(target), Path(made, "again"))) == triples


def test_pyg_file_holds_edges_splits_and_ids(tmp_path, small):
    assert export_graph(small, tmp_path / "g.npz") == "pyg"
    with np.load(tmp_path / "g.npz") as stored:
        head, tail = stored["edge_index"]
        triples = zip(head, stored["edge_type"], tail, stored["split"], strict=True)
        named = sorted(
            (stored["entities"][h], stored["relations"][r], stored["entities"][t], SPLITS[s])
            for h, r, t, s in triples
        )
    assert named == id_triples(small)


def test_a_relation_may_have_a_column_of_any_name(tmp_path):
    relations = [{"id": "r", "label": "r", "name_counts": "a few", "pos": "n"}]
    build_graph(TablesSource([("a", "r", "b")], None, relations), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    export_graph(graph, tmp_path / "g.nt")
    again = build_graph(open_source(tmp_path / "g.nt"), tmp_path / "h")
    assert again.version == graph.manifest.version
