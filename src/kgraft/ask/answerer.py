"""Answers to questions over a graph: entities near the question's topic, each with its path.

From the topic one walks along relations that the question asks for, step by step. With a_t what has
arrived after t steps (see `walks`), and g how much each number of steps is asked for,

    score(e) = log Σ_t g_t a_t(e) + q · W E_e              over the entities that are reached

where E is the memory of the joint model, and q, g and what each step asks for come from its reading
of the question. Without knowledge there is nothing to walk on: q · W E_e ranks all entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.ask.questions import Questions
from kgraft.ask.settings import AnswererConfig
from kgraft.ask.walks import EntityScores, Walk, all_entities
from kgraft.graph import Entity, Graph, GraphPath
from kgraft.joint import GoldWindows, JointModel, TextBatch, open_memory
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import load_tensors, write_tensors
from kgraft.text import length_batches
from kgraft.training import ModelManifest, Pretrained, seeded
from kgraft.vectors import Memory, softmax_by

LEAST = 1e-9  # of a walk, so that its logarithm is finite
QUESTIONS = 64  # that are read together
MODEL, WALKER = "joint", "walker.safetensors"


@dataclass(frozen=True)
class Answer:
    """An entity that may answer a question, and the facts that lead there from its topic."""

    entity: Entity
    score: float  # probability among all entities that are reached
    path: GraphPath  # without a relation where there is no knowledge

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the labels of the facts of the path, each as the graph has it."""
        ends = zip(self.path.entities, self.path.entities[1:], strict=False)
        steps = zip(ends, self.path.relations, self.path.forward, strict=True)
        return [
            (one.label, relation.label, other.label)
            if forward
            else (other.label, relation.label, one.label)
            for (one, other), relation, forward in steps
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        return {
            "id": self.entity.id,
            "label": self.entity.label,
            "score": self.score,
            "path": [list(fact) for fact in self.facts()],
        }


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with what it is about and its answers, best first."""

    question: str
    topic: Entity
    answers: tuple[Answer, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return question and answers as JSON has them."""
        return {
            "question": self.question,
            "about": {"id": self.topic.id, "label": self.topic.label},
            "answers": [answer.to_dict() for answer in self.answers],
        }


class _Scored(NamedTuple):
    """Questions that were read together, with the scores of entities."""

    rows: np.ndarray
    scores: EntityScores
    walk: Walk | None


class Walker(nn.Module):
    """What a joint model's reading of a question asks for."""

    def __init__(self, size: int, hops: int) -> None:
        super().__init__()
        self.steps = nn.Parameter(torch.randn(hops, size) * size**-0.5)  # what each step looks for
        self.key, self.value = nn.Linear(size, size), nn.Linear(size, size)
        self.relation, self.inverse = nn.Linear(size, size), nn.Linear(size, size)
        self.length, self.fit = nn.Linear(size, hops), nn.Linear(size, size)
        self.entity = nn.Linear(size, size, bias=False)

    def forward(self, read: Tensor, mask: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Return p (hops, B, 2 R) and g (hops, B), of what was read (B, L, F)."""
        scale = read.shape[-1] ** -0.5
        attention = torch.einsum("hf,blf->bhl", self.steps, self.key(read)) * scale
        weights = attention.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        wanted = weights @ self.value(read)  # (B, hops, F)
        both = torch.cat([self.relation(relations), self.inverse(relations)])  # (2 R, F)
        scores = torch.einsum("bhf,rf->hbr", wanted, both) * scale
        return scores.softmax(-1), self.length(read[:, 0]).softmax(-1).T

    def fits(self, read: Tensor, entities: Tensor) -> Tensor:
        """Return q · W E (N, B), of entities (N, F)."""
        wanted = self.fit(read[:, 0]) @ self.entity.weight  # W moved to the question: few rows
        return entities @ wanted.T * read.shape[-1] ** -0.5


class Answerer(nn.Module, Pretrained[AnswererConfig]):
    """A joint model and a walker on a graph.

    It answers questions over the graph it was trained on, and over any other whose facts are said
    in similar words. Its folder holds the joint model in a folder of its own.
    """

    kind = Kind("question answerer", MODEL_MANIFEST)
    format = 2
    made_by = "kgraft ask train"
    unversioned_file = "questions.json"
    config_class = AnswererConfig

    def __init__(
        self,
        model: JointModel,
        graph: Graph,
        memory: Memory,
        config: AnswererConfig | None = None,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.model, self.graph, self.memory = model, graph, memory
        self.config = config or AnswererConfig()
        with seeded(seed):
            self.walker = Walker(model.encoder.dimension, self.config.hops)
        self.entities = torch.from_numpy(np.array(memory.rows_of("entities"), np.float32))
        self.relations = memory.relations

    def windows(self, questions: Questions) -> GoldWindows:
        """Cut questions into one window each: a question that is too long is cut off."""
        windows = self.model.encoder.windows(questions.texts).firsts()
        return GoldWindows.of(windows, questions.annotated())

    def forward(
        self, batch: TextBatch, topic: np.ndarray, *, seed: int
    ) -> tuple[EntityScores, Walk | None]:
        """Return the scores of entities for each question, and the walk that reached them, if any.

        The topic is not an answer.
        """
        on = self.config.use_knowledge
        read = self.model.read(batch, self.graph, self.memory, seed=seed, use_knowledge=on)
        if not on:
            scores = all_entities(self.walker.fits(read, self.entities).T)
            return scores.where(scores.entity != topic[scores.question]), None
        relations, lengths = self.walker(read, batch.mask, self.relations)
        walk = Walk.of(topic, relations, lengths, self.graph.adjacency, self.config.frontier)
        reached = walk.total()
        distinct, row = np.unique(reached.entity, return_inverse=True)
        fits = self.walker.fits(read, self.entities[torch.from_numpy(distinct)])
        fit = fits[torch.from_numpy(row), torch.from_numpy(reached.question)]
        return reached._replace(score=(reached.score + LEAST).log() + fit), walk

    @torch.no_grad()
    def right(self, questions: Questions, windows: GoldWindows | None = None) -> np.ndarray:
        """Return which questions the best entity answers, (N,)."""
        right = np.zeros(len(questions), bool)
        for rows, scores, _ in self._score(questions, windows or self.windows(questions)):
            best = zip(rows.tolist(), scores.best(len(rows)).tolist(), strict=True)
            right[rows] = [entity in questions.answers[row] for row, entity in best]
        return right

    @torch.no_grad()
    def answer(self, questions: Questions, limit: int = 3) -> list[AnsweredQuestion]:
        """Return the best answers of each question, with the paths that lead there."""
        answers: list[tuple[Answer, ...]] = [()] * len(questions)
        for scored in self._score(questions, self.windows(questions)):
            for row, best in zip(scored.rows, self._best(questions, scored, limit), strict=True):
                answers[row] = best
        topics = self.graph.entities_at(questions.topic)
        rows = zip(questions.texts, topics, answers, strict=True)
        return [AnsweredQuestion(*row) for row in rows]

    def _score(self, questions: Questions, windows: GoldWindows) -> Iterator[_Scored]:
        """Score entities for questions, some questions at a time."""
        self.eval()
        tokens = QUESTIONS * int(windows.lengths.max(initial=1))
        for rows in length_batches(windows.lengths, tokens):
            scores, walk = self(windows.batch(rows), questions.topic[rows], seed=0)
            yield _Scored(rows, scores, walk)

    def _best(
        self, questions: Questions, scored: _Scored, limit: int
    ) -> Iterator[tuple[Answer, ...]]:
        """Yield the best answers of each question of a batch."""
        rows, scores, walk = scored
        probability = softmax_by(scores.score, torch.from_numpy(scores.question), len(rows))
        highest = scores._replace(score=probability).highest(limit)
        for index, row in enumerate(rows.tolist()):
            own = highest.where(highest.question == index)
            order = np.argsort(-own.score.numpy(), kind="stable").tolist()
            answers = []
            for entity, score in ((int(own.entity[n]), float(own.score[n])) for n in order):
                facts = walk.path(index, entity, self.graph.adjacency) if walk else []
                path = self.graph.path_of(int(questions.topic[row]), facts)
                answers.append(Answer(self.graph.entity(entity), score, path))
            yield tuple(answers)

    def _write_files(self, folder: Path) -> None:
        self.model.save_pretrained(folder / MODEL)
        write_tensors(folder / WALKER, self.walker.state_dict())

    @classmethod
    def _read_files(
        cls,
        folder: Path,
        config: AnswererConfig,
        manifest: ModelManifest,  # noqa: ARG003
        **context: Any,
    ) -> Self:
        """Read an answerer for a `graph`, whose descriptions are read once."""
        graph: Graph = context["graph"]
        model = JointModel.from_pretrained(folder / MODEL)
        memory = open_memory(model, graph, progress=context.get("progress"))
        answerer = cls(model, graph, memory, config)
        load_tensors(answerer.walker, folder / WALKER)
        return answerer.eval()
