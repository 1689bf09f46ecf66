"""What a joint model is fine-tuned and measured on, with knowledge on and off.

| task      | data                                                     | figure                 |
| --------- | -------------------------------------------------------- | ---------------------- |
| classes   | the types of the graph's own entities                    | accuracy               |
| relations | train.jsonl and test.jsonl: texts with a head, a tail    | accuracy, 5-way-1-shot |
|           | and a relation; those of the test are not learnt from    |                        |
| questions | train, dev and test.jsonl: questions about an entity     | Hits@1                 |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import JointModel, open_memory
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress
from kgraft.tasks.entity_classes import EntityClasses, EntitySettings, EntityTrainee, GraphReader
from kgraft.tasks.few_shot import (
    EpisodeSettings,
    EpisodeTrainee,
    RelationReader,
    RelationTexts,
    episodes,
)
from kgraft.tasks.graph_questions import Answerer, Questions, QuestionSettings, QuestionTrainee
from kgraft.training import Schedule, train
from kgraft.vectors.memory import Memory

Load = Callable[[], JointModel]
ASKED = 10_000  # questions of few-shot relations
VALID = 8  # relations that are set apart to choose by


def evaluate_joint(
    task: str,
    load: Load,
    graph: Graph,
    data: Path | None = None,
    *,
    seeds: int = 1,
    progress: Progress | None = None,
) -> Difference:
    """Fine-tune a joint model on a task with knowledge and without, and compare on test."""
    if task not in JOINT_TASKS:
        raise BadInput(f"no task is called {task}", remedy=f"choose from {', '.join(JOINT_TASKS)}")
    if data is None and task != "classes":
        raise BadInput(f"{task} needs data", remedy="give the folder with its files: --data")
    on, off = (
        np.concatenate(
            [
                JOINT_TASKS[task](load(), graph, data, seed, knowing, progress)
                for seed in range(seeds)
            ]
        )
        for knowing in (True, False)
    )
    return paired_difference(_counts(on, seeds), _counts(off, seeds))


def _counts(right: np.ndarray, seeds: int) -> np.ndarray:
    """Return hits and tries of each example over all seeds, (N, 2)."""
    hits = right.reshape(seeds, -1).sum(0)
    return np.stack([hits, np.full(len(hits), seeds)], axis=1).astype(np.float64)


def classify_entities(
    model: JointModel,
    graph: Graph,
    _: Path | None,
    seed: int,
    knowing: bool,
    progress: Progress | None = None,
    *,
    settings: EntitySettings | None = None,
) -> np.ndarray:
    """Return which entities of the test part are put into their class, (N,)."""
    chosen = replace(settings or EntitySettings(), seed=seed)
    learnt, valid, test = EntityClasses.of(graph).split()
    memory = open_memory(model, graph, progress=progress)
    reader = GraphReader(model, graph, memory, knowing=knowing)
    trainee = EntityTrainee(reader, model.encoder.dimension, learnt, valid, chosen)
    schedule = Schedule(epochs=chosen.epochs, watch="accuracy", patience=chosen.patience)
    _fine_tune(trainee, schedule, progress)
    return trainee.right(test)


def few_shot(
    model: JointModel,
    graph: Graph,
    data: Path | None,
    seed: int,
    knowing: bool,
    progress: Progress | None = None,
    *,
    settings: EpisodeSettings | None = None,
) -> np.ndarray:
    """Return which of many 5-way-1-shot questions are answered right, (N,)."""
    assert data is not None
    chosen = replace(settings or EpisodeSettings(), seed=seed)
    test = RelationTexts.read(data / "test.jsonl", graph)
    whole = RelationTexts.read(data / "train.jsonl", graph, without=test.names)
    memory = open_memory(model, graph, progress=progress)
    fine_tune_relations(model, graph, memory, whole, chosen, knowing=knowing, progress=progress)
    vectors = RelationReader(model, graph, memory, test, knowing=knowing).all()
    return episodes(vectors, test.relation, min(5, len(test.names)), 1, ASKED)


def fine_tune_relations(
    model: JointModel,
    graph: Graph,
    memory: Memory,
    whole: RelationTexts,
    settings: EpisodeSettings,
    *,
    knowing: bool,
    progress: Progress | None = None,
) -> None:
    """Fine-tune a joint model on texts of relations, some of which are set apart to choose by."""
    order = np.random.default_rng(0).permutation(len(whole.names))
    apart = np.isin(whole.relation, order[: min(VALID, len(order) // 2)])
    learnt, valid = (whole.part(np.flatnonzero(rows)) for rows in (~apart, apart))
    readers = [
        RelationReader(model, graph, memory, part, knowing=knowing) for part in (learnt, valid)
    ]
    ways = min(settings.ways_asked, len(np.unique(valid.relation)))
    settings = replace(settings, ways_asked=ways)
    trainee = EpisodeTrainee(readers[0], learnt, readers[1], valid, settings)
    rounds = -(-settings.steps // settings.validate_every)
    schedule = Schedule(epochs=rounds, watch="accuracy", patience=settings.patience)
    _fine_tune(trainee, schedule, progress)


def answer_questions(
    model: JointModel,
    graph: Graph,
    data: Path | None,
    seed: int,
    knowing: bool,
    progress: Progress | None = None,
    *,
    settings: QuestionSettings | None = None,
) -> np.ndarray:
    """Return which test questions the best entity answers, (N,)."""
    assert data is not None
    chosen = replace(settings or QuestionSettings(), seed=seed)
    learnt, valid, test = (
        Questions.read(data / f"{name}.jsonl", graph) for name in ("train", "dev", "test")
    )
    memory = open_memory(model, graph, progress=progress)
    answerer = Answerer(model, graph, memory, chosen, knowing=knowing)
    trainee = QuestionTrainee(answerer, learnt, valid, chosen)
    schedule = Schedule(epochs=chosen.epochs, watch="hits", patience=chosen.patience)
    _fine_tune(trainee, schedule, progress)
    return trainee.right(test)


def _fine_tune(trainee: Any, schedule: Schedule, progress: Progress | None) -> None:  # noqa: ANN401
    """Train in a folder that is gone afterwards; the trainee keeps its best state."""
    with TemporaryDirectory(prefix="kgraft-") as folder:
        for _ in train(trainee, Path(folder), schedule, identity={}, progress=progress):
            pass


Task = Callable[[JointModel, Graph, Path | None, int, bool, Progress | None], np.ndarray]
JOINT_TASKS: dict[str, Task] = {
    "classes": classify_entities,
    "relations": few_shot,
    "questions": answer_questions,
}
