"""A tiny graph with namesakes, knowledge of it, and a grafted encoder that knows it."""

import pytest
import torch
from tests.graph.tiny import build
from transformers import AutoTokenizer, BertConfig, BertModel

from kgraft.graft import AttentionSettings, GraftedEncoder, GraphKnowledge
from kgraft.text import Encoder, packaged_folder
from kgraft.vectors import EntityVectors

SETTINGS = AttentionSettings(size=8, heads=2, inner=16, score=5)


class DrawnVectors(EntityVectors):
    """Random vectors, the same for the same graph."""

    dimension = 12

    def __init__(self, graph):
        self.graph = graph
        drawn = torch.Generator().manual_seed(len(graph.entities))
        self.table = torch.randn(len(graph.entities), self.dimension, generator=drawn)

    def _take(self, entities):
        return self.table[torch.from_numpy(entities)]

    def _origin(self, entities):
        raise NotImplementedError


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    """Thirty entities, three of them called Paris."""
    return build(tmp_path_factory.mktemp("graph") / "tiny")


@pytest.fixture(scope="session")
def knowledge(graph):
    return GraphKnowledge(graph, DrawnVectors(graph), name="tiny")


@pytest.fixture(scope="session")
def host_folder(tmp_path_factory):
    return write_host(tmp_path_factory.mktemp("host"))


def write_host(folder):
    """Write an encoder of three small layers, with the words of the default one."""
    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=24, num_hidden_layers=3, num_attention_heads=4, intermediate_size=32
    )
    BertModel(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(packaged_folder(), local_files_only=True).save_pretrained(folder)
    return folder


@pytest.fixture
def encoder(host_folder, knowledge):
    """A grafted encoder, new for each test."""
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    return GraftedEncoder(host, {2: knowledge}, settings={2: SETTINGS})
