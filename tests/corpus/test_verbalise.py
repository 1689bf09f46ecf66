"""Facts in words, with their ends marked where they stand."""

import pytest

from kgraft.corpus import fact_texts, relation_templates
from kgraft.errors import BadInput
from kgraft.graph import Graph, TablesSource, build_graph

ENTITIES = [
    {"id": "p", "label": "Paris"},
    {"id": "f", "label": "France"},
    {"id": "s", "label": "the long river Seine"},
]
TRIPLES = [("p", "capital", "f"), ("s", "flows through", "p"), ("f", "has", "s")]


@pytest.fixture
def graph(tmp_path):
    relations = [
        {"id": "capital", "label": "capital of", "template": "[X] rules [Y] ."},
        {"id": "has", "label": "has", "template": "of [Y] some lies in [X] ."},
        {"id": "flows through", "label": "flows through", "template": "no place"},
    ]
    build_graph(TablesSource(TRIPLES, ENTITIES, relations), tmp_path / "graph")
    return Graph.open(tmp_path / "graph")


def test_templates(graph):
    ids = graph.relations["id"].to_pylist()
    said = dict(zip(ids, relation_templates(graph), strict=True))
    assert said == {
        "capital": "[X] rules [Y] .",
        "has": "of [Y] some lies in [X] .",
        "flows through": "[X] flows through [Y] .",
    }


def test_facts_with_their_marks(graph):
    said = fact_texts(graph, 10)
    assert sorted(said.texts) == [
        "Paris rules France .",
        "of the long river Seine some lies in France .",
        "the long river Seine flows through Paris .",
    ]
    labels = graph.entities["label"].to_pylist()
    assert len(said.gold) == 6
    spans = said.mentions.text, said.mentions.start, said.mentions.end
    for text, start, end, entity in zip(*spans, said.gold, strict=True):
        assert said.texts[text][start:end] == labels[entity]


def test_some_facts_by_the_seed(graph):
    assert len(fact_texts(graph, 2)) == 2
    assert fact_texts(graph, 2, seed=5).texts == fact_texts(graph, 2, seed=5).texts


def test_a_graph_without_facts(tmp_path):
    build_graph(TablesSource([], ENTITIES), tmp_path / "graph")
    with pytest.raises(BadInput, match="no facts to say"):
        fact_texts(Graph.open(tmp_path / "graph"), 3)
