"""The memory of a graph: what was read before is not read again."""

import numpy as np
import pytest
from tests.graft.tiny import build
from tests.graph.tiny import ENTITIES, TRIPLES
from tests.joint.test_pretrain import QUICK, made

from kgraft.joint import open_memory
from kgraft.joint.descriptions import Descriptions


@pytest.fixture
def reads(monkeypatch, tmp_path):
    """Count the descriptions that are read."""
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    counted, read = [], Descriptions.read

    def spy(self, part, rows):
        counted.append(len(rows))
        return read(self, part, rows)

    monkeypatch.setattr(Descriptions, "read", spy)
    return counted


def test_all_is_read_once(model, graph, reads):
    memory = open_memory(model, graph)
    assert sum(reads) == len(graph.entities) + len(graph.relations)
    expected = Descriptions(graph, model.language).read("entities", np.arange(30))
    assert np.allclose(memory.rows_of("entities"), expected, atol=1e-5)
    reads.clear()
    again = open_memory(model, graph)
    assert reads == []
    assert np.array_equal(again.rows_of("entities"), memory.rows_of("entities"))


def test_of_a_graph_that_grew_only_the_new_is_read(model, graph, reads, tmp_path):
    open_memory(model, graph)
    reads.clear()
    new = {"id": "rome", "label": "Rome", "description": "city on the Tiber"}
    grown = build(tmp_path / "grown", TRIPLES, [*ENTITIES, new])
    memory = open_memory(model, grown)
    assert sum(reads) == 1
    expected = Descriptions(grown, model.language).read("entities", np.arange(31))
    assert np.allclose(memory.rows_of("entities"), expected, atol=1e-5)


def test_another_model_reads_for_itself(model, graph, reads):
    open_memory(model, graph)
    reads.clear()
    next(model.encoder.model.parameters()).data += 0.1
    open_memory(model, graph)
    assert sum(reads) == len(graph.entities) + len(graph.relations)


def test_a_training_begins_with_what_was_read_before(model, graph, data, reads, tmp_path):
    memory = open_memory(model, graph)
    task = made(model, graph, data, tmp_path / "run", QUICK)
    reads.clear()
    task.step(task.batches(0)[0], 0)
    assert reads == []
    assert np.array_equal(task.memory.rows_of("entities"), memory.rows_of("entities"))
    task.step(task.batches(0)[0], QUICK.refresh.first)  # the encoder is another by now
    assert sum(reads) == len(graph.entities) + len(graph.relations)
