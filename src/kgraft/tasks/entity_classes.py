"""Entity classification: which of some classes an entity of a graph belongs to.

What tells it is a reader: any module that gives vectors of entities. A joint model reads with its
lower half and its graph attention, without the upper half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import JointModel
from kgraft.joint.samplers import Categories
from kgraft.training import stream, torch_stream
from kgraft.training.learner import Learner
from kgraft.training.seeds import seeded, shuffled
from kgraft.vectors.memory import Memory

_ORDER, _STEP, _READ = 0, 1, 2  # what a stream of random numbers is for
AT_ONCE = 1024  # entities that are classified together


@dataclass(frozen=True)
class EntityClasses:
    """Entities with a class each."""

    names: list[str]
    entity: np.ndarray  # (n,)
    label: np.ndarray  # (n,)

    def __len__(self) -> int:
        return len(self.entity)

    @classmethod
    def of(cls, graph: Graph, most: int = 50) -> EntityClasses:
        """Return the entities of a graph's most frequent types; each has the first of its own."""
        found = Categories.of_graph(graph, most)
        entity = np.flatnonzero(found.of >= 0)
        if not len(entity):
            raise BadInput("no entity has a type", remedy="give a graph with types")
        return cls(found.names, entity, found.of[entity])

    def split(
        self, shares: Sequence[float] = (0.2, 0.2, 0.6), *, seed: int = 0
    ) -> list[EntityClasses]:
        """Return parts of the entities, drawn at random."""
        order = np.random.default_rng(seed).permutation(len(self))
        cuts = np.rint(np.cumsum(shares)[:-1] * len(self)).astype(np.int64)
        parts = np.split(order, cuts)
        if not all(len(rows) for rows in parts):
            said = f"{len(self)} entities with a type are too few to learn from and to measure on"
            raise BadInput(said, remedy="give a graph with more types")
        return [self.part(np.sort(rows)) for rows in parts]

    def part(self, rows: np.ndarray) -> EntityClasses:
        """Return some of the entities."""
        return EntityClasses(self.names, self.entity[rows], self.label[rows])


class GraphReader(nn.Module):
    """What a joint model knows of entities; with `knowing` false only what their texts say."""

    def __init__(
        self, model: JointModel, graph: Graph, memory: Memory, *, knowing: bool = True
    ) -> None:
        super().__init__()
        self.knowledge = model.knowledge if knowing else None
        self._model, self._graph, self._memory = [model], graph, memory  # not to be trained whole

    def forward(
        self, entities: np.ndarray, *, seed: int, hidden: np.ndarray | None = None
    ) -> Tensor:
        """Return the vectors of entities, (n, F); facts with those of `hidden` are not seen."""
        if self.knowledge is None:
            return self._memory.take(torch.from_numpy(entities))
        return self._model[0].entity_vectors(
            self._graph, self._memory, entities, seed=seed, hidden=hidden
        )


@dataclass(frozen=True)
class EntitySettings:
    """How entities are learnt to be classified."""

    epochs: int = 30
    patience: int = 6
    batch: int = 256  # entities
    rate: float = 1e-3
    dropout: float = 0.3
    weight_decay: float = 0.01
    readings: int = 4  # of the surroundings of an entity, whose mean decides
    seed: int = 0


class EntityTrainee(Learner):
    """A reader and a classifier in training; see `kgraft.training.Trainee`."""

    def __init__(
        self,
        reader: nn.Module,
        size: int,
        learnt: EntityClasses,
        valid: EntityClasses,
        settings: EntitySettings,
    ) -> None:
        self.reader, self.settings = reader, settings
        self.learnt, self.valid = learnt, valid
        with seeded(settings.seed):
            self.head = nn.Sequential(
                nn.Dropout(settings.dropout), nn.Linear(size, size), nn.GELU(),
                nn.Dropout(settings.dropout), nn.Linear(size, len(learnt.names)),
            )  # fmt: skip
        module = nn.ModuleDict({"reader": reader, "head": self.head})
        groups = [(settings.rate, module.parameters())]
        super().__init__(module, groups, weight_decay=settings.weight_decay)
        self.steps = settings.epochs * len(self.batches(0))

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the entities of an epoch, in random order."""
        return shuffled(len(self.learnt), self.settings.batch, self.settings.seed, _ORDER, epoch)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, _STEP, place).initial_seed()
        with seeded(seed):
            scores = self._scores(self.learnt.entity[batch], seed % (1 << 31))
        loss = cross_entropy(scores, torch.from_numpy(self.learnt.label[batch]))
        return self.move(loss, place)

    def _scores(self, entities: np.ndarray, seed: int) -> Tensor:
        vectors = self.reader(entities, seed=seed)
        scores: Tensor = self.head(vectors)
        return scores

    def validate(self) -> dict[str, float]:
        """Return the share of validation entities that are put into their class."""
        return {"accuracy": float(self.right(self.valid).mean())}

    @torch.no_grad()
    def right(self, asked: EntityClasses) -> np.ndarray:
        """Return which entities are put into their class, (n,)."""
        self.module.eval()
        found = []
        for first in range(0, len(asked), AT_ONCE):
            entities = asked.entity[first : first + AT_ONCE]
            scores = sum(self._scores(entities, seed).softmax(-1) for seed in self._seeds())
            assert isinstance(scores, Tensor)
            found.append(scores.argmax(-1).numpy())
        return np.concatenate(found) == asked.label

    def _seeds(self) -> Iterator[int]:
        drawn = stream(self.settings.seed, _READ).integers(1 << 31, size=self.settings.readings)
        yield from drawn.tolist()
