"""What is learnt of questions: their answers are to be likely among all that is around."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.tasks.asked import QUICK

from kgraft.tasks.graph_walks import Reached
from kgraft.tasks.question_trainee import QuestionTrainee, answer_loss


def test_the_loss_by_hand():
    scores = torch.tensor([0.0, 2.0, 1.0, 1.0, 0.0, 3.0])
    reached = Reached(np.array([0, 0, 0, 1, 1, 2]), np.array([4, 5, 6, 4, 5, 4]), scores)
    first, second = scores[:3].softmax(0), scores[3:5].softmax(0)
    expected = -(torch.log(first[1] + first[2]) + torch.log(second[0])) / 2
    found = answer_loss(reached, [np.array([5, 6]), np.array([4]), np.array([9])])
    assert found.item() == pytest.approx(expected.item())  # the last reaches no answer
    assert answer_loss(reached, [np.array([9])] * 3).item() == 0.0


@pytest.mark.slow
def test_it_learns_and_knowledge_helps(answerer, asked):
    right = {}
    for knowing in (True, False):
        trainee = QuestionTrainee(answerer(knowing=knowing), asked, asked, QUICK)
        trainee.steps = 120
        for place in range(120):
            batches = trainee.batches(place)
            trainee.step(batches[place % len(batches)], place)
        right[knowing] = trainee.answerer.right(asked)
        assert trainee.validate()["hits"] == pytest.approx(right[knowing].mean())
    assert right[True][:8].mean() > 0.8
    assert not right[True][8]


@pytest.mark.parametrize("lower", [False, True])
def test_the_lower_half_learns_only_if_it_may(answerer, asked, lower):
    """LM1 that stays is what the memory was read with."""
    settings = replace(QUICK, lower=lower)
    trainee = QuestionTrainee(answerer(), asked, asked, settings)
    host = trainee.answerer.model.encoder.model
    before = {name: p.detach().clone() for name, p in host.named_parameters()}
    trainee.step(trainee.batches(0)[0], 0)
    moved = {name for name, p in host.named_parameters() if not torch.equal(p, before[name])}
    assert any(".layer.1." in name for name in moved)
    assert any(".layer.0." in name for name in moved) == lower
    assert any("word_embeddings" in name for name in moved) == lower
