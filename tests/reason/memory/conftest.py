"""A small graph of towns, and an encoder that counts what it reads."""

import pytest

from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.reason import FactMemory
from kgraft.text import StaticEncoder

ENTITIES = [
    {"id": "paris", "label": "Paris"},
    {"id": "paris_tx", "label": "Paris", "description": "town in Texas"},
    {"id": "france", "label": "France"},
    {"id": "berlin", "label": "Berlin"},
    {"id": "germany", "label": "Germany", "aliases": ["Deutschland"]},
    {"id": "rhine", "label": "Rhine"},
    {"id": "texas", "label": "Texas"},
    {"id": "york", "label": "York"},
    {"id": "new_york", "label": "New York"},
    {"id": "anna", "label": "Anna"},
]
TRIPLES = [
    ("paris", "capital_of", "france"),
    ("berlin", "capital_of", "germany"),
    ("france", "borders", "germany"),
    ("germany", "borders", "france"),
    ("rhine", "flows_in", "germany"),
    ("paris_tx", "lies_in", "texas"),
    ("anna", "born_in", "berlin"),
    ("york", "twin_of", "berlin"),
    ("new_york", "twin_of", "rhine"),
]
RELATIONS = [{"id": "capital_of", "label": "capital of", "template": "[X] is the capital of [Y] ."}]


class CountingEncoder(StaticEncoder):
    """The static encoder, with the texts that it has read."""

    read: list

    def encode(self, texts):
        """Encode, and note what was encoded."""
        self.read += texts
        return super().encode(texts)


@pytest.fixture
def encoder():
    made = CountingEncoder.load()
    made.read = []
    return made


def build(folder, triples=TRIPLES, entities=ENTITIES, relations=RELATIONS):
    build_graph(TablesSource(triples, entities, relations), folder)
    return Graph.open(folder)


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    return build(tmp_path_factory.mktemp("towns") / "graph")


@pytest.fixture
def memory(graph, encoder, tmp_path):
    return FactMemory(graph, encoder, cache=tmp_path / "cache")
