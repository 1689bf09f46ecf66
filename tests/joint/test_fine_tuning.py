"""A joint model in fine-tuning: the graph's own losses can be learned along."""

import pytest
import torch

from kgraft.joint import FineTuning, FineTuningTask, language_parameters


class LearnNothing(FineTuningTask):
    """As much of a task as an update needs."""

    def batches(self, epoch):
        raise NotImplementedError

    def step(self, batch, step):
        raise NotImplementedError


def test_the_losses_of_the_graph_are_learned_along(model, graph, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    losses = FineTuning(model, graph, multi_task=True).graph_losses
    task = LearnNothing(model, [(0.0, [])], seed=0, graph_losses=losses, graph_rate=1e-2)
    task.steps = 10
    before = losses.heads.relations.outer.weight.clone()
    values = task.update(model.language.norm.weight.sum(), 0)
    assert values["loss"] == pytest.approx(
        values["task"] + values["categories"] + values["relations"]
    )
    assert not torch.equal(losses.heads.relations.outer.weight, before)
    assert "module.heads.relations.outer.weight" in task.state()


def test_one_task_alone(model, graph):
    assert FineTuning(model, graph).graph_losses is None


@pytest.mark.parametrize("train_lower", [True, False])
def test_the_lower_half_may_stay(model, train_lower):
    trained = {id(parameter) for parameter in language_parameters(model, train_lower=train_lower)}
    words = model.encoder.model.get_input_embeddings().weight
    assert (id(words) in trained) == train_lower
    assert id(model.language.norm.weight) in trained
