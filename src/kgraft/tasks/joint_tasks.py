"""What a joint model is fine-tuned and measured on, with knowledge on and off.

| task      | data                                                     | figure                 |
| --------- | -------------------------------------------------------- | ---------------------- |
| classes   | the types of the graph's own entities                    | accuracy               |
| links     | the graph's own test facts                               | MRR, known ones out    |
| relations | train.jsonl and test.jsonl: texts with a head, a tail    | accuracy, 5-way-1-shot |
|           | and a relation; those of the test are not learnt from    |                        |
| questions | train, dev and test.jsonl: questions about an entity     | Hits@1                 |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import JointModel, new_heads, open_memory
from kgraft.joint.graph_losses import GraphLosses
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress
from kgraft.tasks.entity_classes import EntityClasses, EntitySettings, EntityTrainee, GraphReader
from kgraft.tasks.few_shot import (
    EpisodeSettings,
    EpisodeTrainee,
    RelationReader,
    RelationTexts,
    episodes,
    first_of_each,
)
from kgraft.tasks.graph_answers import Answerer, QuestionSettings
from kgraft.tasks.graph_questions import Questions
from kgraft.tasks.link_prediction import PredictionSettings, PredictionTrainee
from kgraft.tasks.question_trainee import QuestionTrainee
from kgraft.training import Schedule, train_in_passing
from kgraft.vectors.memory import Memory

Load = Callable[[], JointModel]
ASKED = 10_000  # questions of few-shot relations
OF_GRAPH = ("classes", "links")  # tasks without a text
FEWEST = 4  # relations that fine-tuning needs
VALID = 8  # relations that are set apart to choose by
VALID_TEXTS = 100  # of each of them


@dataclass(frozen=True)
class FineTuning:
    """A joint model on a graph, and how it is to be fine-tuned there."""

    model: JointModel
    graph: Graph
    seed: int = 0
    knowing: bool = True
    beside: bool = False  # the two losses of the graph's side are learnt beside the task
    progress: Progress | None = None

    @cached_property
    def memory(self) -> Memory:
        """What the model reads of the graph's descriptions before it is fine-tuned."""
        return open_memory(self.model, self.graph, progress=self.progress)

    @cached_property
    def losses(self) -> GraphLosses | None:
        """What is learnt beside the task."""
        if not self.beside:
            return None
        heads = new_heads(self.model, self.graph, self.seed)
        return GraphLosses(self.model, heads, self.graph, self.memory)


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
    refuse_without_data(task, data)
    on, off = (
        [
            JOINT_TASKS[task](
                FineTuning(load(), graph, seed, knowing=knowing, progress=progress), data
            )
            for seed in range(seeds)
        ]
        for knowing in (True, False)
    )
    return paired_difference(hits(on), hits(off))


def refuse_without_data(task: str, data: Path | None) -> None:
    """Say what is wrong with a task's name, or that it needs files."""
    if task not in JOINT_TASKS:
        raise BadInput(f"no task is called {task}", remedy=f"choose from {', '.join(JOINT_TASKS)}")
    if data is None and task not in OF_GRAPH:
        raise BadInput(f"{task} needs data", remedy="give the folder with its files: --data")


def refuse_learnt(task: str, facts: Mapping[str, Any], graph: Graph) -> None:
    """Refuse to ask of a graph what a model has learnt of it already; see `saving.read_facts`."""
    weights, told = facts["facts"]["weights"], facts["facts"]["graph"]
    by = {"classes": "categories", "links": "relations"}.get(task)
    if by and told == graph.manifest.version and weights[by]:
        raise BadInput(
            f"the {by} of this graph were learnt in pre-training: {task} would tell little",
            remedy=f"give another graph, or pre-train with --{by} 0",
        )


def hits(right: list[np.ndarray]) -> np.ndarray:
    """Return hits and tries of each example over all seeds, (N, 2)."""
    total = np.sum(right, 0)
    return np.stack([total, np.full(len(total), len(right))], axis=1).astype(np.float64)


def classify_entities(
    tuning: FineTuning, _: Path | None = None, *, settings: EntitySettings | None = None
) -> np.ndarray:
    """Return which entities of the test part are put into their class, (N,)."""
    chosen = replace(settings or EntitySettings(), seed=tuning.seed)
    parts = EntityClasses.of(tuning.graph).split()
    reader = GraphReader(tuning.model, tuning.graph, tuning.memory, knowing=tuning.knowing)
    size = tuning.model.encoder.dimension
    return learn_classes(reader, size, parts, chosen, progress=tuning.progress)


def learn_classes(
    reader: nn.Module,
    size: int,
    parts: Sequence[EntityClasses],
    settings: EntitySettings,
    *,
    progress: Progress | None = None,
) -> np.ndarray:
    """Train a reader that gives vectors of a size, and return what it gets right of the last part.

    The parts are to learn from, to choose by and to measure on.
    """
    learnt, valid, test = parts
    trainee = EntityTrainee(reader, size, learnt, valid, settings)
    schedule = Schedule(epochs=settings.epochs, watch="accuracy", patience=settings.patience)
    train_in_passing(trainee, schedule, progress=progress)
    return trainee.right(test)


def predict_links(
    tuning: FineTuning, _: Path | None = None, *, settings: PredictionSettings | None = None
) -> np.ndarray:
    """Return the reciprocal rank of the missing end of each test fact, asked both ways, (N,)."""
    chosen = replace(settings or PredictionSettings(), seed=tuning.seed)
    if not tuning.graph.manifest.splits["test"]:
        raise BadInput("the graph has no test facts", remedy="give one with a test split")
    tuning = replace(tuning, graph=tuning.graph.split("train"))  # nothing of what is asked for
    reader = GraphReader(tuning.model, tuning.graph, tuning.memory, knowing=tuning.knowing)
    trainee = PredictionTrainee(reader, tuning.memory.relations, tuning.graph, chosen)
    schedule = Schedule(epochs=chosen.epochs, watch="mrr", patience=chosen.patience)
    train_in_passing(trainee, schedule, progress=tuning.progress)
    found: np.ndarray = 1 / trainee.rank(trainee.test).rank
    return found


def few_shot(
    tuning: FineTuning, data: Path | None, *, settings: EpisodeSettings | None = None
) -> np.ndarray:
    """Return which of many 5-way-1-shot questions are answered right, (N,)."""
    assert data is not None
    test = RelationTexts.read(data / "test.jsonl", tuning.graph)
    whole = RelationTexts.read(data / "train.jsonl", tuning.graph, without=test.names)
    fine_tune_relations(tuning, whole, settings)
    vectors = read_relations(tuning, test)
    return episodes(vectors, test.relation, min(5, len(test.names)), 1, ASKED)


def read_relations(tuning: FineTuning, data: RelationTexts) -> np.ndarray:
    """Return the vectors of texts that state relations, (N, 2 F)."""
    return RelationReader(
        tuning.model, tuning.graph, tuning.memory, data, knowing=tuning.knowing
    ).all()


def fine_tune_relations(
    tuning: FineTuning, whole: RelationTexts, settings: EpisodeSettings | None = None
) -> None:
    """Fine-tune a joint model on texts of relations, some of which are set apart to choose by."""
    chosen = replace(settings or EpisodeSettings(), seed=tuning.seed)
    if len(whole.names) < FEWEST:
        said = f"{len(whole.names)} relations are too few to learn from and to choose by"
        raise BadInput(said, remedy=f"give texts of {FEWEST} relations or more")
    order = np.random.default_rng(0).permutation(len(whole.names))
    apart = np.isin(whole.relation, order[: min(VALID, len(order) // 2)])
    learnt, valid = (whole.part(np.flatnonzero(rows)) for rows in (~apart, apart))
    valid = valid.part(first_of_each(valid.relation, VALID_TEXTS))
    readers = [
        RelationReader(tuning.model, tuning.graph, tuning.memory, part, knowing=tuning.knowing)
        for part in (learnt, valid)
    ]
    ways = min(chosen.ways_asked, len(np.unique(valid.relation)))
    chosen = replace(chosen, ways_asked=ways)
    trainee = EpisodeTrainee(readers[0], learnt, readers[1], valid, chosen, beside=tuning.losses)
    rounds = -(-chosen.steps // chosen.validate_every)
    schedule = Schedule(epochs=rounds, watch="accuracy", patience=chosen.patience)
    train_in_passing(trainee, schedule, progress=tuning.progress)


def answer_questions(
    tuning: FineTuning, data: Path | None, *, settings: QuestionSettings | None = None
) -> np.ndarray:
    """Return which test questions the best entity answers, (N,)."""
    assert data is not None
    learnt, valid, test = (
        Questions.read(data / f"{name}.jsonl", tuning.graph) for name in ("train", "dev", "test")
    )
    return fine_tune_questions(tuning, learnt, valid, settings).right(test)


def fine_tune_questions(
    tuning: FineTuning,
    learnt: Questions,
    valid: Questions,
    settings: QuestionSettings | None = None,
) -> Answerer:
    """Fine-tune a joint model on questions, and return what answers others."""
    trainee, schedule = questions_to_learn(tuning, learnt, valid, settings)
    train_in_passing(trainee, schedule, progress=tuning.progress)
    return trainee.answerer


def questions_to_learn(
    tuning: FineTuning,
    learnt: Questions,
    valid: Questions,
    settings: QuestionSettings | None = None,
) -> tuple[QuestionTrainee, Schedule]:
    """Return a joint model that is ready to be fine-tuned on questions, and for how long."""
    chosen = replace(settings or QuestionSettings(), seed=tuning.seed)
    answerer = Answerer(tuning.model, tuning.graph, tuning.memory, chosen, knowing=tuning.knowing)
    trainee = QuestionTrainee(answerer, learnt, valid, chosen, beside=tuning.losses)
    return trainee, Schedule(epochs=chosen.epochs, watch="hits", patience=chosen.patience)


Task = Callable[[FineTuning, Path | None], np.ndarray]
JOINT_TASKS: dict[str, Task] = {
    "classes": classify_entities,
    "links": predict_links,
    "relations": few_shot,
    "questions": answer_questions,
}
