"""Train an answerer, and measure how often it is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.ask.answerer import Answerer
from kgraft.ask.questions import Questions
from kgraft.ask.settings import AnswererConfig, AnswererSettings
from kgraft.ask.task import AnswererTask
from kgraft.joint import FineTuning
from kgraft.storage import refuse_existing
from kgraft.training import Epoch, fit, train_in_memory

SPLITS = ("train", "dev", "test")


def train_answerer(
    tuning: FineTuning,
    questions: Questions,
    valid: Questions,
    out: str | Path,
    *,
    settings: AnswererSettings | None = None,
    config: AnswererConfig | None = None,
    model_facts: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Iterator[Epoch]:
    """Fine-tune a joint model on questions, and write an answerer to `out`.

    Yields after each epoch. Interrupted or killed, the same call resumes at the last checkpoint and
    ends with the same bits. `model_facts` say how the model was pre-trained.
    """
    refuse_existing(Path(out), Answerer.kind, overwrite=overwrite)
    settings = (settings or AnswererSettings()).replace(seed=tuning.seed)
    task = AnswererTask(tuning, questions, valid, settings, config=config, model_facts=model_facts)
    yield from fit(task, out, settings, overwrite=overwrite, progress=tuning.progress)


def fine_tune_answerer(
    tuning: FineTuning,
    questions: Questions,
    valid: Questions,
    *,
    settings: AnswererSettings | None = None,
    config: AnswererConfig | None = None,
) -> Answerer:
    """Fine-tune a joint model on questions, and return the answerer; nothing is written."""
    settings = (settings or AnswererSettings()).replace(seed=tuning.seed)
    task = AnswererTask(tuning, questions, valid, settings, config=config)
    train_in_memory(task, settings, progress=tuning.progress)
    return task.answerer


def measure_answers(
    tuning: FineTuning,
    data: Path,
    *,
    settings: AnswererSettings | None = None,
    config: AnswererConfig | None = None,
) -> np.ndarray:
    """Fine-tune on the questions of a folder, and return which test questions are answered, (N,).

    The folder has train.jsonl, dev.jsonl and test.jsonl.
    """
    train, valid, test = (Questions.read(data / f"{name}.jsonl", tuning.graph) for name in SPLITS)
    return fine_tune_answerer(tuning, train, valid, settings=settings, config=config).right(test)
