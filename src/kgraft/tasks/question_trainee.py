"""An answerer in training: the answers of a question are to be likely among all that is around."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.joint.graph_losses import GraphLosses
from kgraft.tasks.graph_answers import LEAST, Answerer, QuestionSettings
from kgraft.tasks.graph_questions import Questions
from kgraft.tasks.graph_walks import Reached
from kgraft.tasks.joint_learner import JointLearner, language_parameters
from kgraft.training import torch_stream
from kgraft.training.seeds import seeded, shuffled
from kgraft.vectors.graph_attention import softmax_by

_ORDER, _STEP = 0, 1  # what a stream of random numbers is for


class QuestionTrainee(JointLearner):
    """An answerer in training; see `kgraft.training.Trainee`."""

    def __init__(
        self, answerer: Answerer, learnt: Questions, valid: Questions, settings: QuestionSettings,
        *, beside: GraphLosses | None = None,
    ) -> None:  # fmt: skip
        self.answerer, self.settings = answerer, settings
        kept = np.array([len(found) > 0 for found in learnt.answers])
        if not kept.any():
            said = "no question to learn from has an answer in the graph"
            raise BadInput(said, remedy="give questions about this graph")
        self.learnt, self.valid = learnt.part(np.flatnonzero(kept)), valid
        self.windows, self.asked = answerer.windows(self.learnt), answerer.windows(valid)
        model = answerer.model
        groups = [
            (settings.language_rate, language_parameters(model, lower=settings.lower)),
            (settings.walker_rate, [*model.knowledge.parameters(), *answerer.walker.parameters()]),
        ]
        super().__init__(
            answerer, groups, seed=settings.seed, beside=beside, rate=settings.walker_rate
        )
        self.steps = settings.epochs * len(self.batches(0))

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the questions of an epoch, in random order."""
        return shuffled(len(self.learnt), self.settings.batch, self.settings.seed, _ORDER, epoch)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, _STEP, place).initial_seed()
        with seeded(seed):
            topic = self.learnt.topic[batch]
            scores, _ = self.answerer(self.windows.batch(batch), topic, seed=seed % (1 << 31))
        loss = answer_loss(scores, [self.learnt.answers[n] for n in batch])
        return self.move(loss, place)

    def validate(self) -> dict[str, float]:
        """Return how often the best entity answers the question."""
        return {"hits": float(self.answerer.right(self.valid, self.asked).mean())}


def answer_loss(scores: Reached, answers: list[np.ndarray]) -> Tensor:
    """Return the mean of -log of how likely an answer is, of the questions that reach one."""
    right = scores.among(answers)
    group = torch.from_numpy(scores.question)
    likely = softmax_by(scores.mass, group, len(answers)) * torch.from_numpy(right)
    total = likely.new_zeros(len(answers)).index_add(0, group, likely)
    reached = torch.from_numpy(np.isin(np.arange(len(answers)), scores.question[right]))
    return -total[reached].clamp_min(LEAST).log().sum() / max(int(reached.sum()), 1)
