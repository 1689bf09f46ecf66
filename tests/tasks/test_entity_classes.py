"""Entities are put into classes by what a reader knows of them."""

import numpy as np
import pytest
import torch
from tests.graft.tiny import build
from tests.joint.conftest import CONFIG

from kgraft.errors import BadInput
from kgraft.joint import JointModel, open_memory
from kgraft.tasks.entity_classes import EntityClasses, EntitySettings, EntityTrainee, GraphReader
from kgraft.text import Encoder

QUICK = EntitySettings(epochs=40, batch=8, rate=1e-2, readings=2, dropout=0.0)


@pytest.fixture
def reader(graph, host_folder, tmp_path):
    model = JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)
    memory = open_memory(model, graph, folder=tmp_path)
    return lambda **options: GraphReader(model, graph, memory, **options)


def test_classes_of_a_graph(graph):
    found = EntityClasses.of(graph, 3)
    assert found.names == ["river", "city", "country"]
    named = dict(zip(found.entity.tolist(), found.label.tolist(), strict=True))
    assert named[int(graph.numbers_of(["france"])[0])] == 2
    assert "texas" not in {graph.entities["id"][n].as_py() for n in named}


def test_parts(graph):
    found = EntityClasses.of(graph)
    parts = found.split(seed=1)
    assert [len(part) for part in parts] == [5, 6, 16]
    assert sorted(np.concatenate([part.entity for part in parts])) == found.entity.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("knowing", [True, False])
def test_it_learns(graph, reader, knowing):
    classes = EntityClasses.of(graph, 4)
    trainee = EntityTrainee(reader(knowing=knowing), 24, classes, classes, QUICK)
    before = trainee.validate()["accuracy"]
    names = {n.split(".")[0] for n, _ in trainee.module.named_parameters()}
    assert names == ({"reader", "head"} if knowing else {"head"})
    place = 0
    for epoch in range(QUICK.epochs):
        for batch in trainee.batches(epoch):
            trainee.step(batch, place)
            place += 1
    assert trainee.validate()["accuracy"] > max(before, 0.8)


def test_the_encoder_stays_as_it_is(graph, reader):
    held = reader()
    before = {n: t.clone() for n, t in held._model[0].language.state_dict().items()}
    trainee = EntityTrainee(held, 24, EntityClasses.of(graph, 4), EntityClasses.of(graph, 4), QUICK)
    trainee.step(trainee.batches(0)[0], 0)
    after = held._model[0].language.state_dict()
    assert all(torch.equal(before[n], t) for n, t in after.items())


def test_a_graph_without_types(tmp_path):
    graph = build(tmp_path / "bare", [], [{"id": "a"}], None)
    with pytest.raises(BadInput, match="no entity has a type"):
        EntityClasses.of(graph)
