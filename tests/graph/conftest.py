"""Small graphs and alias tables that the tests of this folder share."""

import shutil

import numpy as np
import pyarrow as pa
import pytest

from kgraft.graph import Graph, build_graph
from kgraft.graph.io.tables.in_memory import TablesSource
from kgraft.graph.names.alias_build import Names, build_aliases
from kgraft.graph.names.aliases import Aliases


def _entity(number, label, description, aliases=(), types=()):
    texts = {"label": label, "description": description}
    return {"id": f"Q{number}", **texts, "aliases": list(aliases), "types": list(types)}


ENTITIES = [
    _entity(1, "Paris", "capital of France", ["Lutetia", "City of Light"], ["city", "capital"]),
    _entity(2, "Paris", "city in Texas", ["Paris, Texas"], ["city"]),
    _entity(3, "Paris", "prince of Troy", ["Alexander"], ["person"]),
    _entity(4, "France", "country in Europe", ["La France", "République française"], ["country"]),
    _entity(5, "Germany", "country in Europe", ["Deutschland", "Allemagne"], ["country"]),
    _entity(6, "Berlin", "capital of Germany", [], ["city", "capital"]),
    _entity(7, "Texas", "state of the United States", ["Lone Star State"], ["state"]),
    _entity(8, "United States", "country in North America", ["USA", "U.S."], ["country"]),
    _entity(9, "Austin", "capital of Texas", [], ["city", "capital"]),
    _entity(10, "Troy", "ancient city", ["Ilion"], ["city"]),
    _entity(11, "Strasbourg", "city in France", ["Straßburg"], ["city"]),
    _entity(12, "Nowhere", ""),
]
RELATIONS = [
    {"id": "P36", "label": "capital of", "template": "[X] is the capital of [Y] ."},
    {"id": "P131", "label": "located in", "description": "the place it lies in"},
    {"id": "P47", "label": "borders", "aliases": ["next to"], "template": "[X] borders [Y] ."},
]
TRIPLES = [
    ("Q1", "P36", "Q4", "train"),
    ("Q6", "P36", "Q5", "train"),
    ("Q9", "P36", "Q7", "valid"),
    ("Q1", "P131", "Q4", "train"),
    ("Q2", "P131", "Q7", "train"),
    ("Q3", "P131", "Q10", "train"),
    ("Q6", "P131", "Q5", "train"),
    ("Q7", "P131", "Q8", "train"),
    ("Q9", "P131", "Q7", "train"),
    ("Q11", "P131", "Q4", "test"),
    ("Q4", "P47", "Q5", "train"),
    ("Q5", "P47", "Q4", "train"),
]


def _make_graph(tmp_path, triples, entities=None, relations=None):
    target = tmp_path / f"graph{len(list(tmp_path.iterdir()))}"
    build_graph(TablesSource(triples, entities, relations), target)
    return Graph.open(target)


@pytest.fixture(scope="session")
def make_graph():
    """Build a graph from rows: `make_graph(tmp_path, triples, entities=None, relations=None)`."""
    return _make_graph


def _make_aliases(names, *, degree=None, counts=None):
    texts, entities = (list(column) for column in zip(*names, strict=True)) if names else ([], [])
    column = pa.chunked_array([texts[:3], texts[3:]], pa.string())
    if degree is None:
        degree = np.zeros(max(entities, default=0) + 1, np.int64)
    seen = np.full(len(texts), -1) if counts is None else np.array(counts, np.int64)
    entity = np.array(entities, np.int32)
    return Aliases(*build_aliases(Names(column, entity, seen), np.asarray(degree)))


@pytest.fixture(scope="session")
def make_aliases():
    """Build aliases in memory: `make_aliases([(name, entity), …], degree=None, counts=None)`."""
    return _make_aliases


@pytest.fixture(scope="session")
def _small_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "graph0"
    build_graph(TablesSource(TRIPLES, ENTITIES, RELATIONS), folder)
    return folder


@pytest.fixture
def small(tmp_path, _small_folder):
    """Twelve entities (three named Paris, Q12 without triples), three relations, three splits.

    By number, entity Q1 is 0 and so on; relations are P36, P131, P47; 10 of 12 triples are train.
    """
    shutil.copytree(_small_folder, tmp_path / "graph0")
    return Graph.open(tmp_path / "graph0")


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    """Thirty entities, three of them called Paris: those of the tests of linking."""
    from tests.graph.tiny import build

    return build(tmp_path_factory.mktemp("graph") / "tiny")
