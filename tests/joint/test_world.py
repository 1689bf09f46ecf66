"""The built-in graph and its own texts teach the default encoder to tell masked entities."""

import numpy as np
import pytest

from kgraft import Encoder, Graph
from kgraft.corpus import graph_texts
from kgraft.joint import JointConfig, JointModel, JointTask, PretrainSettings, pretrain
from kgraft.progress import Silent
from kgraft.vectors import RefreshSettings

SETTINGS = PretrainSettings(
    epochs=2, batch_tokens=512, roots=16, masked_mentions=0.4,
    refresh=RefreshSettings(first=500), language_rate=1e-4, head_rate=2e-3,
)  # fmt: skip


@pytest.mark.slow
def test_pretraining_on_world_tells_more_masked_entities(tmp_path):
    world = Graph.open("world")
    texts = graph_texts(world, 400)
    valid, train = texts.select(np.arange(80)), texts.select(np.arange(80, 400))
    model = JointModel(Encoder.load(max_length=64, device="cpu"), JointConfig(fan_out=(4, 2)))
    task = JointTask(model, world, train, valid, SETTINGS)
    task.set_up(tmp_path / "memory", Silent())
    before = task.validate()
    epochs = pretrain(model, world, train, tmp_path / "model", valid=valid, settings=SETTINGS)
    after = list(epochs)[-1].figures
    assert after["mentions"] > before["mentions"] + 0.2
    assert after["perplexity"] < before["perplexity"]
