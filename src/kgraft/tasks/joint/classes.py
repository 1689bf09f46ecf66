"""Entity classification: which of some classes an entity of a graph belongs to.

A reader tells it: any module that returns vectors of entities. A joint model reads with its lower
half and its graph attention, without the upper half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import Categories, FineTuning
from kgraft.progress import Progress
from kgraft.tasks.graph_reader import AT_ONCE, GraphReader
from kgraft.tasks.interfaces import JointEvaluation
from kgraft.tasks.joint import JOINT_TASKS
from kgraft.tasks.settings import EntityClassSettings
from kgraft.training import (
    AdamWTask,
    Purpose,
    seeded,
    shuffled_batches,
    stream,
    torch_stream,
    train_in_memory,
)

CLASSES = 50  # of a graph, the most frequent types
SPLIT = (0.2, 0.2, 0.6)  # to train on, to validate and to test


@dataclass(frozen=True)
class EntityClasses:
    """Entities with one class each."""

    names: list[str]
    entity: np.ndarray  # (n,)
    label: np.ndarray  # (n,)

    def __len__(self) -> int:
        return len(self.entity)

    @classmethod
    def of(cls, graph: Graph, most: int = CLASSES) -> EntityClasses:
        """Return the entities of a graph's most frequent types; each has the first of its own."""
        categories = Categories.of_graph(graph, most)
        entity = np.flatnonzero(categories.of >= 0)
        if not len(entity):
            raise BadInput("no entity has a type", remedy="give a graph with types")
        return cls(categories.names, entity, categories.of[entity])

    def split(self, fractions: Sequence[float] = SPLIT, *, seed: int = 0) -> list[EntityClasses]:
        """Return parts of the entities, drawn at random."""
        order = np.random.default_rng(seed).permutation(len(self))
        cuts = np.rint(np.cumsum(fractions)[:-1] * len(self)).astype(np.int64)
        parts = np.split(order, cuts)
        if not all(len(rows) for rows in parts):
            reason = f"{len(self)} entities with a type are too few to train and to test on"
            raise BadInput(reason, remedy="give a graph with more types")
        return [self.select(np.sort(rows)) for rows in parts]

    def select(self, rows: np.ndarray) -> EntityClasses:
        """Return some of the entities."""
        return EntityClasses(self.names, self.entity[rows], self.label[rows])


class EntityClassTask(AdamWTask[np.ndarray]):
    """A reader and a classifier in training; a batch is the indices of entities."""

    watch = "accuracy"

    def __init__(
        self,
        reader: nn.Module,
        size: int,
        entities: EntityClasses,
        valid: EntityClasses,
        settings: EntityClassSettings,
    ) -> None:
        self.reader, self.settings = reader, settings
        self.entities, self.valid = entities, valid
        with seeded(settings.seed):
            self.head = nn.Sequential(
                nn.Dropout(settings.dropout),
                nn.Linear(size, size),
                nn.GELU(),
                nn.Dropout(settings.dropout),
                nn.Linear(size, len(entities.names)),
            )
        module = nn.ModuleDict({"reader": reader, "head": self.head})
        groups = [(settings.learning_rate, module.parameters())]
        super().__init__(module, groups, weight_decay=settings.weight_decay)
        self.steps = settings.epochs * len(self.batches(0))

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the entities of an epoch, in random order."""
        path = (self.settings.seed, Purpose.ORDER, epoch)
        return shuffled_batches(len(self.entities), self.settings.batch, *path)

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, Purpose.STEP, step).initial_seed()
        with seeded(seed):
            scores = self._scores(self.entities.entity[batch], seed % (1 << 31))
        loss = cross_entropy(scores, torch.from_numpy(self.entities.label[batch]))
        return self.update(loss, step)

    def _scores(self, entities: np.ndarray, seed: int) -> Tensor:
        vectors = self.reader(entities, seed=seed)
        scores: Tensor = self.head(vectors)
        return scores

    def validate(self) -> dict[str, float]:
        """Return the fraction of validation entities that are put into their class."""
        return {"accuracy": float(self.right(self.valid).mean())}

    @torch.no_grad()
    def right(self, entities: EntityClasses) -> np.ndarray:
        """Return which entities are put into their class, (n,)."""
        self.module.eval()
        predicted = []
        for first in range(0, len(entities), AT_ONCE):
            part = entities.entity[first : first + AT_ONCE]
            readings = [self._scores(part, seed).softmax(-1) for seed in self._seeds()]
            predicted.append(torch.stack(readings).sum(0).argmax(-1).numpy())
        return np.concatenate(predicted) == entities.label

    def _seeds(self) -> Iterator[int]:
        drawn = stream(self.settings.seed, Purpose.VALID)
        yield from drawn.integers(1 << 31, size=self.settings.readings).tolist()


def classify_entities(
    reader: nn.Module,
    size: int,
    parts: Sequence[EntityClasses],
    settings: EntityClassSettings,
    *,
    progress: Progress | None = None,
) -> np.ndarray:
    """Train a reader whose vectors have a size, and return what it gets right of the last part.

    The parts are to train on, to validate and to test.
    """
    train, valid, test = parts
    task = EntityClassTask(reader, size, train, valid, settings)
    train_in_memory(task, settings, progress=progress)
    return task.right(test)


class EntityClassEvaluation(JointEvaluation):
    """The types of the graph's own entities."""

    has_texts = False
    pretraining_loss = "categories"

    def __init__(self, settings: EntityClassSettings | None = None) -> None:
        self.settings = settings or EntityClassSettings()

    def measure(self, tuning: FineTuning, data: Path | None) -> np.ndarray:  # noqa: ARG002
        """Return which entities of the test part are put into their class, (N,)."""
        parts = EntityClasses.of(tuning.graph).split()
        return classify_entities(
            GraphReader.of(tuning),
            tuning.model.encoder.dimension,
            parts,
            self.settings.replace(seed=tuning.seed),
            progress=tuning.progress,
        )


JOINT_TASKS.register("classes")(EntityClassEvaluation())
