"""Entities are put into classes by what a reader knows of them."""

import numpy as np
import pytest
import torch
from tests.graft.tiny import build

from kgraft.errors import BadInput
from kgraft.joint import open_memory
from kgraft.tasks import EntityClassSettings, GraphReader
from kgraft.tasks.joint.classes import EntityClasses, EntityClassTask

QUICK = EntityClassSettings(epochs=40, batch=8, learning_rate=1e-2, readings=2, dropout=0.0)


@pytest.fixture
def reader(graph, model, tmp_path):
    memory = open_memory(model, graph, folder=tmp_path)
    return lambda **options: GraphReader(model, graph, memory, **options)


def test_classes_of_a_graph(graph):
    found = EntityClasses.of(graph, 3)
    assert found.names == ["river", "city", "country"]
    named = dict(zip(found.entity.tolist(), found.label.tolist(), strict=True))
    assert named[int(graph.indices_of(["france"])[0])] == 2
    assert "texas" not in {graph.entities["id"][n].as_py() for n in named}


def test_parts(graph):
    found = EntityClasses.of(graph)
    parts = found.split(seed=1)
    assert [len(part) for part in parts] == [5, 6, 16]
    assert sorted(np.concatenate([part.entity for part in parts])) == found.entity.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("use_knowledge", [True, False])
def test_it_learns(graph, reader, use_knowledge):
    classes = EntityClasses.of(graph, 4)
    task = EntityClassTask(reader(use_knowledge=use_knowledge), 24, classes, classes, QUICK)
    before = task.validate()["accuracy"]
    names = {n.split(".")[0] for n, _ in task.module.named_parameters()}
    assert names == ({"reader", "head"} if use_knowledge else {"head"})
    step = 0
    for epoch in range(QUICK.epochs):
        for batch in task.batches(epoch):
            task.step(batch, step)
            step += 1
    assert task.validate()["accuracy"] > max(before, 0.8)


def test_the_encoder_stays_as_it_is(graph, reader):
    read = reader()
    before = {n: t.clone() for n, t in read._model[0].language.state_dict().items()}
    task = EntityClassTask(read, 24, EntityClasses.of(graph, 4), EntityClasses.of(graph, 4), QUICK)
    task.step(task.batches(0)[0], 0)
    after = read._model[0].language.state_dict()
    assert all(torch.equal(before[n], t) for n, t in after.items())


def test_a_graph_without_types(tmp_path):
    graph = build(tmp_path / "bare", [], [{"id": "a"}], None)
    with pytest.raises(BadInput, match="type"):
        EntityClasses.of(graph)
