"""Answers to questions over a graph: which entities around a question's topic, and by which path.

From the topic one walks along relations that the question asks for, step by step. With a_t what has
arrived after t steps (see `graph_walks`), and g how much each number of steps is asked for,

    score(e) = log Σ_t g_t a_t(e) + q · W E_e              over the entities around the topic

where E is the memory of the joint model, and q, g and what each step asks for come from its reading
of the question. Without knowledge there is nothing to walk on: q · W E_e ranks all entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.joint import JointModel, LinkedBatch, LinkedWindows
from kgraft.ranges import COUNT, PASSES, RATE, SEED, SIZE, Range, check_ranges
from kgraft.tasks.graph_questions import Questions
from kgraft.tasks.graph_walks import Fact, Reached, Walk, everywhere
from kgraft.text import length_batches
from kgraft.training.seeds import seeded
from kgraft.vectors.graph_attention import softmax_by
from kgraft.vectors.memory import Memory

LEAST = 1e-9  # of a walk, so that its logarithm is finite


@dataclass(frozen=True)
class QuestionSettings:
    """How questions over a graph are learnt to be answered."""

    hops: int = 3
    epochs: int = 3
    patience: int = 2
    batch: int = 64  # questions
    most: int = 256  # entities of a question from which the next step goes on
    lower: bool = False  # whether LM1 learns too
    language_rate: float = 1e-4
    walker_rate: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(self, _RANGES)


_RANGES: dict[str, Range] = {
    "hops": (1, 10),
    "epochs": PASSES,
    "patience": PASSES,
    "batch": SIZE,
    "most": COUNT,
    "language_rate": RATE,
    "walker_rate": RATE,
    "seed": SEED,
}


class Walker(nn.Module):
    """What a joint model's reading of a question asks for."""

    def __init__(self, size: int, hops: int) -> None:
        super().__init__()
        self.steps = nn.Parameter(torch.randn(hops, size) * size**-0.5)  # what each step looks for
        self.key, self.value = nn.Linear(size, size), nn.Linear(size, size)
        self.relation, self.turned = nn.Linear(size, size), nn.Linear(size, size)
        self.many, self.fit = nn.Linear(size, hops), nn.Linear(size, size)
        self.entity = nn.Linear(size, size, bias=False)

    def asked(self, read: Tensor, mask: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Return p (hops, B, 2 R) and g (hops, B), of what was read (B, L, F)."""
        looked = torch.einsum("hf,blf->bhl", self.steps, self.key(read)) * read.shape[-1] ** -0.5
        weights = looked.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        wanted = weights @ self.value(read)  # (B, hops, F)
        known = torch.cat([self.relation(relations), self.turned(relations)])  # (2 R, F)
        scores = torch.einsum("bhf,rf->hbr", wanted, known) * read.shape[-1] ** -0.5
        return scores.softmax(-1), self.many(read[:, 0]).softmax(-1).T

    def fits(self, read: Tensor, entities: Tensor) -> Tensor:
        """Return q · W E (N, B), of entities (N, F)."""
        wanted = self.fit(read[:, 0]) @ self.entity.weight  # W turned to the question: few rows
        return entities @ wanted.T * read.shape[-1] ** -0.5


class Answer(NamedTuple):
    """An entity that may answer a question, and the facts that lead there from its topic."""

    entity: int
    likely: float  # among all that is around
    path: list[Fact]  # none without knowledge


class Answerer(nn.Module):
    """A joint model and a walker on a graph."""

    def __init__(
        self,
        model: JointModel,
        graph: Graph,
        memory: Memory,
        settings: QuestionSettings,
        *,
        knowing: bool = True,
    ) -> None:
        super().__init__()
        self.model, self.graph, self.memory, self.knowing = model, graph, memory, knowing
        self.settings = settings
        with seeded(settings.seed):
            self.walker = Walker(model.encoder.dimension, settings.hops)
        self.entities = torch.from_numpy(np.array(memory.held("entities"), np.float32))
        self.relations = memory.relations

    def windows(self, asked: Questions) -> LinkedWindows:
        """Make questions ready, a window each: of one that is too long the first counts."""
        windows = self.model.encoder.windows(asked.texts).firsts()
        return LinkedWindows.of(windows, asked.annotated())

    def forward(
        self, batch: LinkedBatch, topic: np.ndarray, *, seed: int
    ) -> tuple[Reached, Walk | None]:
        """Return the scores of entities for each question, and the walk that found them, if any.

        The topic is no answer.
        """
        read = self.model.read(batch, self.graph, self.memory, seed=seed, knowing=self.knowing)
        if not self.knowing:
            found = everywhere(self.walker.fits(read, self.entities).T)
            return found.where(found.entity != topic[found.question]), None
        asked, many = self.walker.asked(read, batch.mask, self.relations)
        walk = Walk.of(topic, asked, many, self.graph.adjacency, self.settings.most)
        around = walk.total()
        distinct, place = np.unique(around.entity, return_inverse=True)
        fits = self.walker.fits(read, self.entities[torch.from_numpy(distinct)])
        fit = fits[torch.from_numpy(place), torch.from_numpy(around.question)]
        return around._replace(mass=(around.mass + LEAST).log() + fit), walk

    @torch.no_grad()
    def right(self, asked: Questions, windows: LinkedWindows | None = None) -> np.ndarray:
        """Return which questions the best entity answers, (N,)."""
        self.eval()
        windows = windows or self.windows(asked)
        right = np.zeros(len(asked), bool)
        for rows, scores, _ in self._read(asked, windows):
            best = scores.best(len(rows)).tolist()
            right[rows] = [e in asked.answers[n] for e, n in zip(best, rows.tolist(), strict=True)]
        return right

    @torch.no_grad()
    def answers(self, asked: Questions, most: int = 3) -> list[list[Answer]]:
        """Return the likeliest answers of each question, with the paths that lead there."""
        self.eval()
        found: list[list[Answer]] = [[] for _ in range(len(asked))]
        adjacency = self.graph.adjacency
        for rows, scores, walk in self._read(asked, self.windows(asked)):
            likely = softmax_by(scores.mass, torch.from_numpy(scores.question), len(rows))
            some = scores._replace(mass=likely).highest(most)
            for place in np.lexsort((-some.mass.numpy(), some.question)).tolist():
                question, entity = int(some.question[place]), int(some.entity[place])
                path = walk.path(question, entity, adjacency) if walk else []
                found[rows[question]].append(Answer(entity, float(some.mass[place]), path))
        return found

    def _read(
        self, asked: Questions, windows: LinkedWindows
    ) -> Iterator[tuple[np.ndarray, Reached, Walk | None]]:
        """Yield numbers of questions that are answered together, their scores and walks."""
        tokens = self.settings.batch * int(windows.lengths.max())
        for rows in length_batches(windows.lengths, tokens):
            scores, walk = self(windows.batch(rows), asked.topic[rows], seed=0)
            yield rows, scores, walk
