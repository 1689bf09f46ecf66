"""Graphs, tables and one encoder that the tests of this folder share."""

import pytest
import torch

from kgraft.columns import arrow_strings
from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.text import Encoder
from kgraft.vectors import StoredVectors, write_table_vectors
from kgraft.vectors.folder import VectorsConfig

ENTITIES = [
    {"id": "paris", "label": "Paris", "description": "capital of France", "types": ["city"]},
    {"id": "france", "label": "France", "description": "", "types": ["country"]},
    {"id": "berlin", "label": "Berlin", "description": "capital of Germany", "types": ["city"]},
    {"id": "germany", "label": "Germany", "aliases": ["Deutschland"], "types": ["country"]},
    {"id": "rhine", "label": "Rhine", "description": "river", "types": []},
    {"id": "alone", "label": "Alone", "description": "no triples"},
]
TRIPLES = [
    ("paris", "capital_of", "france"),
    ("berlin", "capital_of", "germany"),
    ("france", "borders", "germany"),
    ("germany", "borders", "france"),
    ("rhine", "flows_in", "germany"),
]


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return Encoder.load(device="cpu", max_length=64)


@pytest.fixture
def encoded(encoder, monkeypatch):
    """The texts that the encoder has read, one list a call."""
    calls = []
    encode = encoder.encode

    def counting(texts, **options):
        calls.append(list(texts))
        return encode(texts, **options)

    monkeypatch.setattr(encoder, "encode", counting)
    return calls


def _build(folder, triples, entities):
    build_graph(TablesSource(triples, entities), folder)
    return Graph.open(folder)


@pytest.fixture(scope="session")
def build():
    """Build a graph: `build(folder, triples, entities)`."""
    return _build


@pytest.fixture(scope="session")
def towns(tmp_path_factory):
    """Six entities, the last without triples, and three relations."""
    return _build(tmp_path_factory.mktemp("towns") / "graph", TRIPLES, ENTITIES)


def _random(rows, dimension, seed=0):
    return torch.randn(rows, dimension, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="session")
def random_vectors():
    """Draw vectors: `random_vectors(rows, dimension, seed=0)`."""
    return _random


@pytest.fixture(scope="session")
def write():
    """Write a table for all of a graph: `write(folder, graph, entities, relations=None)`."""

    def _write(folder, graph, entities, relations=None, **facts):
        write_table_vectors(
            folder,
            entities=entities,
            entity_ids=graph.entities["id"],
            relations=relations,
            relation_ids=graph.relations["id"],
            graph_name="towns",
            graph_version=graph.manifest.version,
            facts=facts,
        )
        return folder

    return _write


@pytest.fixture(scope="session")
def stored():
    """Make trained vectors in memory: `stored(vectors, ids, relation_ids, version)`."""

    def _stored(vectors, ids, relation_ids=(), version="another"):
        shape = len(ids), len(relation_ids)
        config = VectorsConfig("other", version, vectors.shape[1], *shape)
        names = (arrow_strings(strings) for strings in (ids, relation_ids))
        return StoredVectors(config, vectors, None, *names)

    return _stored


@pytest.fixture(scope="session")
def star(tmp_path_factory):
    """A hub with 600 neighbours: entity 0, and an entity for each number from 1 to 600."""
    triples = [("hub", f"r{n % 3}", f"leaf{n}") for n in range(1, 601)]
    entities = [{"id": "hub"}, *({"id": f"leaf{n}"} for n in range(1, 601))]
    graph = _build(tmp_path_factory.mktemp("star") / "graph", triples, entities)
    assert graph.indices_of(["hub", "leaf600"]).tolist() == [0, 600]
    return graph
