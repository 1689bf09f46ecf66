"""A WordNet of a few synsets, and knowledge of it."""

import torch
from tests.graft.conftest import DrawnVectors
from tests.graph.readers.test_wordnet import FILES

from kgraft.graft import WordNetKnowledge
from kgraft.graph import Graph, build_graph
from kgraft.graph.io.readers.wordnet import WordNetSource

DOG, CHASE = "dog%1:05:00::", "dog%2:38:01::"


def tiny_wordnet(folder):
    """Build a graph: dog is a noun tagged 42 times, and a verb tagged twice."""
    source = folder / "source"
    source.mkdir()
    for name, text in {**FILES, "noun.exc": "doggen dog\n\n", "verb.exc": "dug dog\n"}.items():
        (source / name).write_text(text)
    build_graph(WordNetSource(source), folder / "graph", name="wordnet")
    return Graph.open(folder / "graph")


def knowledge_of(graph):
    torch.manual_seed(0)
    return WordNetKnowledge(graph, DrawnVectors(graph))
