"""An answerer in training: an answer of a question is to be likely among all that is reached."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.ask.answerer import LEAST, Answerer
from kgraft.ask.questions import Questions
from kgraft.ask.settings import AnswererConfig, AnswererSettings
from kgraft.ask.walks import EntityScores
from kgraft.errors import BadInput
from kgraft.joint import FineTuning, FineTuningTask, language_parameters
from kgraft.training import ParameterGroups, Purpose, seeded, shuffled_batches, torch_stream
from kgraft.vectors import softmax_by


class AnswererTask(FineTuningTask[np.ndarray]):
    """An answerer in training; a batch is the indices of questions.

    `model_facts` say how the joint model was pre-trained.
    """

    kind = Answerer.kind
    watch = "hits"
    remedy = "lower the learning rates"

    def __init__(
        self,
        tuning: FineTuning,
        questions: Questions,
        valid: Questions,
        settings: AnswererSettings,
        *,
        config: AnswererConfig | None = None,
        model_facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.tuning, self.settings = tuning, settings
        self._questions_digest, self._model_facts = questions.digest(), dict(model_facts or {})
        model = tuning.model
        config = (config or AnswererConfig()).replace(use_knowledge=tuning.use_knowledge)
        self.answerer = Answerer(model, tuning.graph, tuning.memory, config, seed=settings.seed)
        self.questions, self.valid = _answerable(questions), valid
        self.windows = self.answerer.windows(self.questions)
        self.valid_windows = self.answerer.windows(valid)
        super().__init__(
            self.answerer,
            _parameter_groups(self.answerer, settings),
            seed=settings.seed,
            graph_losses=tuning.graph_losses,
            graph_rate=settings.walker_rate,
        )
        self.steps = settings.epochs * len(self.batches(0))

    def identity(self) -> dict[str, Any]:
        """Return the answerer, the graph, the questions and the joint model."""
        return {
            "answerer": self.answerer.config.to_dict(),
            "graph": self.tuning.graph.manifest.version,
            "questions": self._questions_digest,
            "model": self._model_facts,
        }

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the questions of an epoch, in random order."""
        path = (self.settings.seed, Purpose.ORDER, epoch)
        return shuffled_batches(len(self.questions), self.settings.batch, *path)

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, Purpose.STEP, step).initial_seed()
        with seeded(seed):
            topic = self.questions.topic[batch]
            scores, _ = self.answerer(self.windows.batch(batch), topic, seed=seed % (1 << 31))
        loss = answer_loss(scores, [self.questions.answers[index] for index in batch])
        return self.update(loss, step)

    def validate(self) -> dict[str, float]:
        """Return the fraction of questions that the best entity answers."""
        return {"hits": float(self.answerer.right(self.valid, self.valid_windows).mean())}

    def save(self, folder: Path) -> None:
        """Write the answerer."""
        facts = {"settings": self.settings.to_dict(), **self.identity()}
        self.answerer.save_pretrained(folder, facts=facts)


def answer_loss(scores: EntityScores, answers: list[np.ndarray]) -> Tensor:
    """Return the mean of -log p(an answer), of the questions that reach one."""
    is_right = scores.among(answers)
    group = torch.from_numpy(scores.question)
    probability = softmax_by(scores.score, group, len(answers)) * torch.from_numpy(is_right)
    total = probability.new_zeros(len(answers)).index_add(0, group, probability)
    reached = torch.from_numpy(np.isin(np.arange(len(answers)), scores.question[is_right]))
    return -total[reached].clamp_min(LEAST).log().sum() / max(int(reached.sum()), 1)


def _answerable(questions: Questions) -> Questions:
    """Return the questions that have an answer in the graph; refuse to train on none."""
    indices = [i for i, answers in enumerate(questions.answers) if len(answers)]
    if not indices:
        reason = "no question to learn from has an answer in the graph"
        raise BadInput(reason, remedy="give questions about this graph")
    return questions.select(np.array(indices))


def _parameter_groups(answerer: Answerer, settings: AnswererSettings) -> ParameterGroups:
    """Return the parameters that are trained, by their learning rate."""
    model = answerer.model
    language = language_parameters(model, train_lower=settings.train_lower)
    others = [*model.knowledge.parameters(), *answerer.walker.parameters()]
    return [(settings.language_rate, language), (settings.walker_rate, others)]
