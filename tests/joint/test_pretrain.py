"""Joint pre-training: four losses, a memory that keeps up, and a kill that costs nothing."""

import numpy as np
import pytest
import torch
from tests.joint.conftest import CONFIG

from kgraft.corpus import AnnotatedTexts
from kgraft.errors import BadInput, NotFound
from kgraft.joint import (
    GoldWindows,
    JointModel,
    JointTask,
    PretrainSettings,
    Weights,
    open_memory,
    pretrain,
)
from kgraft.progress import Silent
from kgraft.text import Encoder
from kgraft.training import read_manifest
from kgraft.vectors import RefreshSettings

LOSSES = ("words", "mentions", "categories", "relations")
QUICK = PretrainSettings(
    epochs=3, batch_tokens=64, roots=4, random_negatives=6, neighbours=3, masked_mentions=0.5,
    language_rate=1e-3, knowledge_rate=5e-3, head_rate=1e-2,
    refresh=RefreshSettings(first=2, every=2, most=4),
)  # fmt: skip


@pytest.fixture
def many(data):
    return AnnotatedTexts.concat([data] * 4)


@pytest.fixture
def task(model, graph, many, tmp_path):
    return made(model, graph, many, tmp_path / "run", QUICK)


def made(model, graph, data, folder, settings, **options):
    task = JointTask(model, graph, data, data, settings, **options)
    task.set_up(folder, Silent())
    return task


def weights(module):
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


@pytest.mark.slow
def test_every_loss_is_returned_alone(task):
    losses = task.step(task.batches(0)[0], 0)
    assert set(losses) == {"loss", *LOSSES}
    assert losses["loss"] == pytest.approx(sum(x for n, x in losses.items() if n != "loss"))


@pytest.mark.slow
@pytest.mark.parametrize("only", LOSSES)
def test_each_loss_can_be_learned_alone(model, graph, many, tmp_path, only):
    weighed = Weights(**{n: float(n == only) for n in LOSSES})
    alone = made(model, graph, many, tmp_path / "run", QUICK.replace(weights=weighed))
    before = weights(alone.module)
    assert set(alone.step(alone.batches(0)[0], 0)) == {"loss", only}
    after = weights(alone.module)
    changed = {n.split(".")[1] for n in after if not torch.equal(before[n], after[n])}
    on_texts = only in ("words", "mentions")
    assert ("language" in changed) == on_texts
    assert "knowledge" in changed
    assert only in changed


@pytest.mark.slow
def test_the_memory_keeps_up(task):
    versions = []
    for step in range(12):
        task.step(task.batches(0)[0], step)
        versions.append(task.memory.version)
    # before steps 2 and 4, then every 4 steps
    assert versions == [1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4]


def test_without_knowledge_the_graph_is_not_asked(model, graph, many, tmp_path):
    settings = QUICK.replace(weights=Weights(categories=0, relations=0))
    plain = made(model, graph, many, tmp_path / "run", settings, use_knowledge=False)
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
    loaded = JointModel.from_pretrained(tmp_path / "joint")
    assert loaded.config == model.config
    batch = GoldWindows.of(loaded.encoder.windows(many.texts), many).batch(np.arange(5))
    model.eval()
    with torch.no_grad():
        on = [m.read(batch, graph, open_memory(m, graph), seed=3) for m in (model, loaded)]
        off = loaded.read(batch, graph, open_memory(loaded, graph), seed=3, use_knowledge=False)
    assert torch.allclose(on[0], on[1], atol=1e-6)
    assert not torch.allclose(on[1], off, atol=1e-3)
    facts = read_manifest(tmp_path / "joint", JointModel).facts
    assert PretrainSettings.from_dict(facts["settings"]) == QUICK
    assert facts["graph"] == graph.manifest.version
    assert not (tmp_path / "joint.training").exists()


class Killed(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 9])
def test_a_killed_run_ends_with_the_same_bits(
    graph, many, host_folder, tmp_path, monkeypatch, after
):
    whole, epochs = run(graph, many, host_folder, tmp_path / "whole")
    list(epochs)
    step, made_steps = JointTask.step, []

    def kill(self, batch, index):
        if len(made_steps) == after:
            raise Killed
        made_steps.append(index)
        return step(self, batch, index)

    monkeypatch.setattr(JointTask, "step", kill)
    with pytest.raises(Killed):
        list(run(graph, many, host_folder, tmp_path / "killed")[1])
    monkeypatch.setattr(JointTask, "step", step)
    model, epochs = run(graph, many, host_folder, tmp_path / "killed")
    list(epochs)
    expected = whole.state_dict()
    assert all(torch.equal(tensor, expected[n]) for n, tensor in model.state_dict().items())


def test_bad_input(graph, data, host_folder, tmp_path):
    with pytest.raises(BadInput):
        list(run(graph, data.select(np.zeros(0, np.int64)), host_folder, tmp_path / "x")[1])
    (tmp_path / "there").mkdir()
    with pytest.raises(BadInput, match="there"):
        list(run(graph, data, host_folder, tmp_path / "there")[1])
    with pytest.raises(NotFound, match="nowhere"):
        JointModel.from_pretrained(tmp_path / "nowhere")
    (tmp_path / "there" / "kgraft.json").write_text("{}")
    with pytest.raises(BadInput, match="there"):
        JointModel.from_pretrained(tmp_path / "there")
    (tmp_path / "there" / "kgraft.json").unlink()
    (tmp_path / "there" / "joint.json").write_text('{"format": 1}')
    with pytest.raises(BadInput, match="format 1"):
        JointModel.from_pretrained(tmp_path / "there")


@pytest.mark.parametrize(
    ("field", "value"),
    [("epochs", 0), ("masked_mentions", 1.5), ("roots", 0), ("language_rate", 0.0), ("seed", -1)],
)
def test_settings_that_cannot_be(field, value):
    with pytest.raises(BadInput, match=field):
        PretrainSettings(**{field: value})


def test_weights_and_hops_that_cannot_be():
    with pytest.raises(BadInput):
        Weights(words=0.0, mentions=0.0, categories=0.0, relations=0.0)
    for number in (float("nan"), float("inf"), -1.0):
        with pytest.raises(BadInput, match="words"):
            Weights(words=number)
    with pytest.raises(BadInput, match="3 fan-outs for 2 layers"):
        CONFIG.replace(fan_out=(1, 2, 3))
