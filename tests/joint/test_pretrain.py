"""Joint pre-training: four losses, a memory that keeps up, and a kill that costs nothing."""

import json

import numpy as np
import pytest
import torch
from tests.joint.conftest import CONFIG

from kgraft.corpus import AnnotatedTexts
from kgraft.errors import BadInput, NotFound
from kgraft.joint import JointModel, PretrainSettings, Weights, load_joint, open_memory, pretrain
from kgraft.joint.pretrain import new_heads
from kgraft.joint.texts import LinkedWindows
from kgraft.joint.trainee import JointTrainee
from kgraft.text import Encoder
from kgraft.vectors.memory import Memory, RefreshSettings

QUICK = PretrainSettings(
    epochs=3, batch_tokens=64, roots=4, strangers=6, neighbours=3, masked_mentions=0.5,
    language_rate=1e-3, knowledge_rate=5e-3, head_rate=1e-2,
    refreshing=RefreshSettings(first=2, every=2, most=4),
)  # fmt: skip


@pytest.fixture
def many(data):
    return AnnotatedTexts.concat([data] * 4)


@pytest.fixture
def trainee(model, graph, many, encoder, tmp_path):
    return made(model, graph, many, encoder, tmp_path / "memory", QUICK)


def made(model, graph, data, encoder, folder, settings, **options):
    windows = LinkedWindows.of(encoder.windows(data.texts), data)
    memory = Memory(folder, entities=len(graph.entities), relations=len(graph.relations), size=24)
    heads = new_heads(model, graph, 0)
    return JointTrainee(model, heads, graph, memory, windows, windows, settings, **options)


def weights(module):
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


@pytest.mark.slow
def test_every_loss_is_told_alone(trainee):
    losses = trainee.step(trainee.batches(0)[0], 0)
    assert set(losses) == {"loss", "words", "mentions", "categories", "relations"}
    assert losses["loss"] == pytest.approx(sum(x for n, x in losses.items() if n != "loss"))


@pytest.mark.slow
@pytest.mark.parametrize("only", ["words", "mentions", "categories", "relations"])
def test_each_loss_can_be_had_alone(model, graph, many, encoder, tmp_path, only):
    weighed = Weights(
        **{n: float(n == only) for n in ("words", "mentions", "categories", "relations")}
    )
    alone = made(model, graph, many, encoder, tmp_path / "m", QUICK.changed(weights=weighed))
    before = weights(alone.module)
    assert set(alone.step(alone.batches(0)[0], 0)) == {"loss", only}
    after = weights(alone.module)
    changed = {n.split(".")[1] for n in after if not torch.equal(before[n], after[n])}
    on_texts = only in ("words", "mentions")
    assert ("language" in changed) == on_texts
    assert "knowledge" in changed
    assert only in changed


@pytest.mark.slow
def test_the_memory_keeps_up(trainee):
    versions = []
    for place in range(12):
        trainee.step(trainee.batches(0)[0], place)
        versions.append(trainee.memory.version)
    # before steps 2 and 4, then every 4 steps
    assert versions == [1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4]


def test_without_knowledge_the_graph_is_not_asked(model, graph, many, encoder, tmp_path):
    settings = QUICK.changed(weights=Weights(categories=0, relations=0))
    plain = made(model, graph, many, encoder, tmp_path / "m", settings, knowing=False)
    before = weights(model.knowledge)
    plain.step(plain.batches(0)[0], 0)
    assert all(torch.equal(before[n], t) for n, t in model.knowledge.state_dict().items())


def run(graph, data, host_folder, out, **options):
    encoder = Encoder.load(host_folder, device="cpu", max_length=64)
    model = JointModel(encoder, CONFIG)
    return model, pretrain(model, graph, data, out, valid=data, settings=QUICK, **options)


@pytest.mark.slow
def test_a_model_learns_and_is_loaded_again(graph, many, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    model, epochs = run(graph, many, host_folder, tmp_path / "joint")
    figures = [epoch.figures for epoch in epochs]
    assert figures[-1]["perplexity"] < figures[0]["perplexity"]
    again = load_joint(tmp_path / "joint")
    batch = LinkedWindows.of(again.encoder.windows(many.texts), many).batch(np.arange(5))
    model.eval()
    with torch.no_grad():
        found = [m.read(batch, graph, open_memory(m, graph), seed=3) for m in (model, again)]
        off = again.read(batch, graph, open_memory(again, graph), seed=3, knowing=False)
    assert torch.allclose(found[0], found[1], atol=1e-6)
    assert not torch.allclose(found[1], off, atol=1e-3)
    assert json.loads((tmp_path / "joint" / "joint.json").read_text())["facts"]["seed"] == 0


class Killed(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 9])
def test_a_killed_run_ends_with_the_same_bits(
    graph, many, host_folder, tmp_path, monkeypatch, after
):
    whole, epochs = run(graph, many, host_folder, tmp_path / "whole")
    list(epochs)
    step, made_steps = JointTrainee.step, []

    def kill(self, batch, place):
        if len(made_steps) == after:
            raise Killed
        made_steps.append(place)
        return step(self, batch, place)

    monkeypatch.setattr(JointTrainee, "step", kill)
    with pytest.raises(Killed):
        list(run(graph, many, host_folder, tmp_path / "killed")[1])
    monkeypatch.setattr(JointTrainee, "step", step)
    model, epochs = run(graph, many, host_folder, tmp_path / "killed")
    list(epochs)
    expected = whole.state_dict()
    assert all(torch.equal(tensor, expected[n]) for n, tensor in model.state_dict().items())


def test_bad_input(graph, data, host_folder, tmp_path):
    with pytest.raises(BadInput, match="there is no text to learn from"):
        list(run(graph, data.select(np.zeros(0, np.int64)), host_folder, tmp_path / "x")[1])
    with pytest.raises(BadInput, match="none of the four losses counts"):
        Weights(0, 0, 0, 0)
    for number in (float("nan"), float("inf"), -1.0):
        with pytest.raises(BadInput, match="words is "):
            Weights(words=number)
    with pytest.raises(BadInput, match="epochs is 1000000000000"):
        PretrainSettings(epochs=10**12)
    with pytest.raises(NotFound, match="no joint model at"):
        load_joint(tmp_path / "nowhere")
