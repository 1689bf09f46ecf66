"""Graph attention gives entity vectors like any other kind, for grafts too."""

import numpy as np
import pytest
import torch
from tests.graft.conftest import DrawnVectors
from tests.graph.tiny import build

from kgraft.errors import BadInput
from kgraft.graft import GraphKnowledge
from kgraft.vectors.attention_vectors import AttentionVectors, MemoryVectors
from kgraft.vectors.graph_attention import GraphAttention
from kgraft.vectors.memory import Memory
from kgraft.vectors.neighbourhood import neighbourhoods


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return build(tmp_path_factory.mktemp("graph") / "tiny")


@pytest.fixture
def vectors(graph):
    torch.manual_seed(0)
    return AttentionVectors(DrawnVectors(graph), torch.randn(5, 12), GraphAttention(12), (3, 2))


def test_they_are_what_the_attention_says(graph, vectors):
    entities = np.array([5, 3, 5, 0])
    around = neighbourhoods(graph, np.array([0, 3, 5]), (3, 2), seed=0)
    with torch.no_grad():
        base = vectors.vectors.take(around.entity)
        expected = vectors.attention.eval()(around, base, vectors.relations)
    assert torch.allclose(vectors.take(entities), expected[[2, 1, 2, 0]])
    assert torch.equal(vectors.take(entities), vectors.take(entities))
    assert not vectors.take([-1]).any()
    assert len(torch.cat(list(vectors.chunks()))) == len(graph.entities)


def test_grafts_can_use_them(graph, vectors):
    knowledge = GraphKnowledge(graph, vectors)
    assert knowledge.take(torch.tensor([2, -1])).shape == (2, 12)


def test_a_memory_gives_vectors(graph, tmp_path):
    memory = Memory(tmp_path, entities=30, relations=5, size=4)
    memory.refresh(lambda part, rows: np.ones((len(rows), 4), np.float32) * rows[:, None])
    held = MemoryVectors(graph, memory)
    assert held.take([7]).tolist() == [[7.0] * 4]
    assert held.origin([7]).tolist() == ["text"]
    with pytest.raises(BadInput, match=r"9 entities.* 30"):
        MemoryVectors(graph, Memory(tmp_path / "x", entities=9, relations=5, size=4))
