"""Questions over a graph: which entities around a question's topic answer it, and by which path.

From the topic one walks along relations that the question asks for, step by step. With a₀ the
topic, p_t(r) how much step t asks for relation r, and g how much each number of steps is asked for,

    a_t(o) = Σ_(s, r, o) a_(t-1)(s) p_t(r)                 over all facts, both ways
    score(e) = log Σ_t g_t a_t(e) + q · W E_e              over the entities around the topic

where E is the memory of the joint model, and q and p come from its reading of the question.
Without knowledge nothing is walked: the entities around are ranked by q · W E_e alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.graph.annotated import Annotated, json_lines
from kgraft.joint import JointModel, LinkedBatch, LinkedWindows
from kgraft.text import length_batches
from kgraft.training import stream, torch_stream
from kgraft.training.adam import Adam, learned_state, load_learned, warmed_up
from kgraft.training.seeds import seeded
from kgraft.vectors.memory import Memory

_ORDER, _STEP = 0, 1  # what a stream of random numbers is for
LEAST = 1e-9  # of a walk, so that its logarithm is finite
NOWHERE = -1e4  # the score of an entity that is not around


@dataclass(frozen=True)
class Questions:
    """Questions with the entity they are about and the entities that answer them."""

    texts: list[str]
    topic: np.ndarray  # (N,)
    start: np.ndarray  # (N,) characters of the topic
    end: np.ndarray  # (N,)
    answers: list[np.ndarray]  # of each question; none where the graph lacks them

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def read(cls, path: Path, graph: Graph) -> Questions:
        """Read JSON Lines of `text`, `mentions` and `answers`, entities told by their labels.

        Questions about something that the graph lacks are left out.
        """
        labels = graph.entities["label"].to_pylist()
        number = {label: n for n, label in reversed(list(enumerate(labels))) if label}
        texts, rows, answers = [], [], []
        for line_number, line in json_lines(path):
            try:
                told = json.loads(line)
                mention = told["mentions"][0]
                topic = number.get(mention["label"])
                found = [number[name] for name in told["answers"] if name in number]
                row, text = (topic, mention["start"], mention["end"]), str(told["text"])
            except (ValueError, LookupError, TypeError) as error:
                reason = f"no question ({type(error).__name__}: {error})"
                raise BadInput(reason, file=str(path), line=line_number) from error
            if topic is not None:
                texts.append(text)
                rows.append(row)
                answers.append(np.array(found, np.int64))
        if not texts:
            raise BadInput("holds no question about the graph", file=str(path))
        topics, starts, ends = np.array(rows, np.int64).T
        return cls(texts, topics, starts, ends, answers)

    def part(self, rows: np.ndarray) -> Questions:
        """Return some of the questions."""
        texts, answers = ([held[n] for n in rows.tolist()] for held in (self.texts, self.answers))
        return Questions(texts, self.topic[rows], self.start[rows], self.end[rows], answers)

    def annotated(self) -> Annotated:
        """Return the topics as mentions."""
        return Annotated(self.texts, np.arange(len(self)), self.start, self.end, self.topic)


class Edges(NamedTuple):
    """All facts of a graph, both ways: those turned round have relations of their own."""

    source: Tensor  # (2 E,)
    relation: Tensor  # (2 E,)
    target: Tensor  # (2 E,)

    @classmethod
    def of(cls, graph: Graph) -> Edges:
        """Collect the facts of a graph."""
        facts, turned = graph.triples, len(graph.relations)
        columns = (
            np.concatenate([facts.head, facts.tail]),
            np.concatenate([facts.relation, facts.relation + turned]),
            np.concatenate([facts.tail, facts.head]),
        )
        return cls(*(torch.from_numpy(column.astype(np.int64)) for column in columns))


def walk_on(mass: Tensor, asked: Tensor, edges: Edges) -> Tensor:
    """Take one step: mass (N, B) at entities along relations as far as each is asked for, (R, B).

    No entity gets more than 1.
    """
    along = mass[edges.source] * asked[edges.relation]  # (E, B)
    arrived = torch.zeros_like(mass).index_add(0, edges.target, along)
    return arrived / arrived.detach().clamp_min(1.0)


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
        """Return p (hops, 2 R, B) and g (hops, B), of what was read (B, L, F)."""
        looked = torch.einsum("hf,blf->bhl", self.steps, self.key(read)) * read.shape[-1] ** -0.5
        weights = looked.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        wanted = weights @ self.value(read)  # (B, hops, F)
        known = torch.cat([self.relation(relations), self.turned(relations)])  # (2 R, F)
        scores = torch.einsum("bhf,rf->hrb", wanted, known) * read.shape[-1] ** -0.5
        return scores.softmax(1), self.many(read[:, 0]).softmax(-1).T

    def fits(self, read: Tensor, entities: Tensor) -> Tensor:
        """Return q · W E (N, B), of entities (N, F)."""
        return self.entity(entities) @ self.fit(read[:, 0]).T * read.shape[-1] ** -0.5


@dataclass(frozen=True)
class QuestionSettings:
    """How questions over a graph are learnt to be answered."""

    hops: int = 3
    epochs: int = 3
    patience: int = 2
    batch: int = 32  # questions
    language_rate: float = 1e-4
    walker_rate: float = 1e-3
    seed: int = 0


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
        self.settings, self.edges = settings, Edges.of(graph)
        with seeded(settings.seed):
            self.walker = Walker(model.encoder.dimension, settings.hops)
        self.entities = torch.from_numpy(np.array(memory.held("entities"), np.float32))
        self.relations = memory.relations

    def windows(self, asked: Questions) -> LinkedWindows:
        """Make questions ready; each must fit into one window."""
        return LinkedWindows.of(self.model.encoder.windows(asked.texts), asked.annotated())

    def walks(self, batch: LinkedBatch, topic: Tensor, *, seed: int) -> tuple[Tensor, list[Tensor]]:
        """Return what is read of questions, and the mass after each number of steps, (N, B) each.

        Without knowledge the mass is only told from nothing: all that is around has some.
        """
        read = self.model.read(batch, self.graph, self.memory, seed=seed, knowing=self.knowing)
        mass = torch.zeros(len(self.entities), len(topic))
        mass[topic, torch.arange(len(topic))] = 1.0
        p, _ = self.walker.asked(read, batch.mask, self.relations)
        if not self.knowing:
            p = torch.ones_like(p)
        found = []
        for hop in range(self.settings.hops):
            mass = walk_on(mass, p[hop], self.edges)
            found.append(mass)
        return read, found

    def forward(self, batch: LinkedBatch, topic: Tensor, *, seed: int) -> Tensor:
        """Return the score of each entity for each question, (N, B); the topic is no answer."""
        read, found = self.walks(batch, topic, seed=seed)
        _, many = self.walker.asked(read, batch.mask, self.relations)
        fits = self.walker.fits(read, self.entities)
        if self.knowing:
            total = torch.stack([g * a for g, a in zip(many, found, strict=True)]).sum(0)
            scores, around = (total + LEAST).log() + fits, total > 0
        else:
            scores, around = fits, torch.stack(found).sum(0) > 0
        around = around.clone()
        around[topic, torch.arange(len(topic))] = False
        return scores.masked_fill(~around, NOWHERE)


class QuestionTrainee:
    """An answerer in training; see `kgraft.training.Trainee`."""

    def __init__(
        self, answerer: Answerer, learnt: Questions, valid: Questions, settings: QuestionSettings
    ) -> None:
        self.module, self.settings = answerer, settings
        kept = np.array([len(found) > 0 for found in learnt.answers])
        self.learnt, self.valid = learnt.part(np.flatnonzero(kept)), valid
        self.windows, self.asked = answerer.windows(self.learnt), answerer.windows(valid)
        model = answerer.model
        groups = [
            {"params": list(model.language.parameters())},
            {"params": [*model.knowledge.parameters(), *answerer.walker.parameters()]},
        ]
        self.rates = (settings.language_rate, settings.walker_rate)
        self.optimiser = Adam(groups, 0.0)
        self.steps = settings.epochs * len(self.batches(0))

    def state(self) -> dict[str, Tensor]:
        """Return parameters and optimiser."""
        return learned_state(self.module, self.optimiser)

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        load_learned(self.module, self.optimiser, state)

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the questions of an epoch, in random order."""
        order = stream(self.settings.seed, _ORDER, epoch).permutation(len(self.learnt))
        return np.array_split(order, -(-len(order) // self.settings.batch))

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, _STEP, place).initial_seed()
        with seeded(seed):
            topic = torch.from_numpy(self.learnt.topic[batch])
            scores = self.module(self.windows.batch(batch), topic, seed=seed % (1 << 31))
        loss = answer_loss(scores, [self.learnt.answers[n] for n in batch])
        share = warmed_up(place, self.steps)
        self.optimiser.update(loss, [rate * share for rate in self.rates])
        return {"loss": loss.item()}

    def validate(self) -> dict[str, float]:
        """Return how often the best entity answers the question."""
        return {"hits": float(self.right(self.valid, self.asked).mean())}

    @torch.no_grad()
    def right(self, asked: Questions, windows: LinkedWindows | None = None) -> np.ndarray:
        """Return which questions the best entity answers, (N,)."""
        self.module.eval()
        windows = windows or self.module.windows(asked)
        right = np.zeros(len(asked), bool)
        tokens = self.settings.batch * int(windows.lengths.max())
        for rows in length_batches(windows.lengths, tokens):
            topic = torch.from_numpy(asked.topic[rows])
            best = self.module(windows.batch(rows), topic, seed=0).argmax(0).tolist()
            right[rows] = [e in asked.answers[n] for e, n in zip(best, rows.tolist(), strict=True)]
        return right


def answer_loss(scores: Tensor, answers: list[np.ndarray]) -> Tensor:
    """Return the mean of -log of how likely an answer is, of scores (N, B)."""
    column = np.repeat(np.arange(len(answers)), [len(found) for found in answers])
    row = torch.from_numpy(np.concatenate(answers))
    wanted = torch.full_like(scores, -torch.inf)
    wanted[row, torch.from_numpy(column)] = 0.0
    log = scores.log_softmax(0)
    return -(log + wanted).logsumexp(0).mean()
