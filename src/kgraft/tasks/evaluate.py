"""What knowledge adds on a task: on, off, and the difference with its interval."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import FineTuning, JointModel, compare_knowledge
from kgraft.measure import Difference
from kgraft.progress import Progress
from kgraft.tasks.classification import Classification
from kgraft.tasks.graft import GRAFT_TASKS
from kgraft.tasks.joint import JOINT_TASKS

LoadModel = Callable[[], JointModel]


def evaluate_encoder(
    name: str,
    encoder: str | Path | None,
    data: Path,
    *,
    seeds: int = 1,
    progress: Progress | None = None,
) -> float:
    """Fine-tune an encoder without any knowledge on a task, and return the figure on test."""
    task = GRAFT_TASKS[name]
    if not isinstance(task, Classification):
        raise BadInput(f"{name} needs a graft", remedy="give a graft, or a task that classifies")
    return task.measure_plain(encoder, data, seeds=seeds, progress=progress)


def evaluate_joint(
    name: str,
    load: LoadModel,
    graph: Graph,
    data: Path | None = None,
    *,
    seeds: int = 1,
    progress: Progress | None = None,
) -> Difference:
    """Fine-tune a joint model on a task with its knowledge on and off, and compare on test."""
    measure = _measure(name, data)
    return compare_knowledge(measure, load, graph, seeds=seeds, progress=progress)


def _measure(name: str, data: Path | None) -> Callable[[FineTuning], np.ndarray]:
    task = JOINT_TASKS[name]
    task.check_data(data)
    return partial(task.measure, data=data)
