"""What is learned of questions: their answers are to be likely among all that is reached."""

import copy

import numpy as np
import pytest
import torch
from tests.ask.tiny_questions import CONFIG, QUICK

from kgraft.ask.task import AnswererTask, answer_loss
from kgraft.ask.walks import EntityScores
from kgraft.errors import BadInput
from kgraft.joint import FineTuning


def test_the_loss_by_hand():
    scores = torch.tensor([0.0, 2.0, 1.0, 1.0, 0.0, 3.0])
    reached = EntityScores(np.array([0, 0, 0, 1, 1, 2]), np.array([4, 5, 6, 4, 5, 4]), scores)
    first, second = scores[:3].softmax(0), scores[3:5].softmax(0)
    expected = -(torch.log(first[1] + first[2]) + torch.log(second[0])) / 2
    found = answer_loss(reached, [np.array([5, 6]), np.array([4]), np.array([9])])
    assert found.item() == pytest.approx(expected.item())  # the last reaches no answer
    assert answer_loss(reached, [np.array([9])] * 3).item() == 0.0


@pytest.fixture
def made(model, graph, questions, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))

    def made(settings=QUICK, **options):
        tuning = FineTuning(copy.deepcopy(model), graph, **options)
        return AnswererTask(tuning, questions, questions, settings, config=CONFIG)

    return made


@pytest.mark.slow
def test_it_learns_and_knowledge_helps(made, questions):
    right = {}
    for use_knowledge in (True, False):
        task = made(use_knowledge=use_knowledge)
        assert task.answerer.config.use_knowledge == use_knowledge
        task.steps = 120
        for step in range(120):
            batches = task.batches(step)
            task.step(batches[step % len(batches)], step)
        right[use_knowledge] = task.answerer.right(questions)
        assert task.validate()["hits"] == pytest.approx(right[use_knowledge].mean())
    assert right[True][:8].mean() > 0.8
    assert not right[True][8]


@pytest.mark.parametrize("train_lower", [False, True])
def test_the_lower_half_is_trained_only_if_it_may(made, train_lower):
    """LM1 that stays is what the memory was read with."""
    task = made(QUICK.replace(train_lower=train_lower))
    host = task.answerer.model.encoder.model
    before = {name: p.detach().clone() for name, p in host.named_parameters()}
    task.step(task.batches(0)[0], 0)
    changed = {name for name, p in host.named_parameters() if not torch.equal(p, before[name])}
    assert any(".layer.1." in name for name in changed)
    assert any(".layer.0." in name for name in changed) == train_lower
    assert any("word_embeddings" in name for name in changed) == train_lower


def test_questions_without_an_answer(model, graph, questions):
    unanswerable = questions.select(np.array([8]))
    with pytest.raises(BadInput):
        AnswererTask(FineTuning(model, graph), unanswerable, questions, QUICK, config=CONFIG)


def test_the_graph_may_be_learned_along(made):
    task = made(multi_task=True)
    losses = task.step(task.batches(0)[0], 0)
    others = losses["task"] + losses["categories"] + losses["relations"]
    assert losses["loss"] == pytest.approx(others)
