"""Questions over a graph: each is about an entity, and other entities answer it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kgraft.corpus import AnnotatedTexts, read_records
from kgraft.errors import BadInput
from kgraft.graph import Entity, Graph, Mentions
from kgraft.link import Link, Linker


class _Line(NamedTuple):
    """A line of a file of questions."""

    text: str
    topic: str  # label or id
    start: int
    end: int
    answers: list[str]  # labels or ids

    @classmethod
    def of(cls, fields: Any) -> _Line:  # noqa: ANN401
        mention = fields["mentions"][0]
        topic = mention["label"] if "label" in mention else mention["entity"]
        span = int(mention["start"]), int(mention["end"])
        return cls(str(fields["text"]), topic, *span, list(fields["answers"]))


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
        """Read JSON Lines of `text`, `mentions` and `answers`, with entities by label or by id.

        Questions about something that the graph lacks are left out.
        """
        indices = _indices_by_name(graph)
        texts, rows, answers = [], [], []
        for line in read_records(path, _Line.of, "question"):
            topic = indices.get(line.topic)
            if topic is None:
                continue
            texts.append(line.text)
            rows.append((topic, line.start, line.end))
            right = [indices[name] for name in line.answers if name in indices]
            answers.append(np.array(right, np.int64))
        if not texts:
            raise BadInput("contains no question about the graph", file=str(path))
        topics, starts, ends = np.array(rows, np.int64).T
        return cls(texts, topics, starts, ends, answers)

    @classmethod
    def link(cls, texts: Sequence[str], linker: Linker, about: Entity | None = None) -> Questions:
        """Find what questions are about: the entity of the best link, unless it is given.

        An entity that is given need not be named in the question.
        """
        rows = [
            _best_topic(text, links) if about is None else _given_topic(about, links)
            for text, links in zip(texts, linker.link(texts), strict=True)
        ]
        no_answers = [np.zeros(0, np.int64) for _ in texts]
        topics, starts, ends = np.array(rows, np.int64).reshape(-1, 3).T
        return cls(list(texts), topics, starts, ends, no_answers)

    def select(self, rows: np.ndarray) -> Questions:
        """Return some of the questions."""
        texts = [self.texts[row] for row in rows.tolist()]
        answers = [self.answers[row] for row in rows.tolist()]
        return Questions(texts, self.topic[rows], self.start[rows], self.end[rows], answers)

    def digest(self) -> str:
        """Return a digest of the questions and their answers."""
        digest = hashlib.sha256(self.annotated().digest().encode())
        for answers in self.answers:
            digest.update(answers.tobytes() + b";")
        return digest.hexdigest()[:16]

    def annotated(self) -> AnnotatedTexts:
        """Return the questions with their topics as mentions."""
        text = np.arange(len(self))
        mentions = Mentions.without_candidates(text, self.start, self.end, gold=self.topic)
        return AnnotatedTexts(self.texts, mentions)


def _best_topic(text: str, links: Sequence[Link]) -> tuple[int, int, int]:
    """Return entity, start and end of the best link of a question."""
    if not links:
        raise BadInput(
            f"no entity of the graph is found in {text!r}",
            remedy="name the entity that the question is about: --about NAME",
        )
    best = max(links, key=lambda link: link.score)
    return best.entity.index, best.start, best.end


def _given_topic(about: Entity, links: Sequence[Link]) -> tuple[int, int, int]:
    """Return an entity, with where a question names it if it does."""
    for link in links:
        if link.entity.index == about.index:
            return about.index, link.start, link.end
    return about.index, 0, 0


def _indices_by_name(graph: Graph) -> dict[str, int]:
    """Return the index of each entity by its label, and by its id where that is not a label.

    Of entities with the same label it is that of the first.
    """
    ids, labels = (graph.entities[name].to_pylist() for name in ("id", "label"))
    indices = {name: index for index, name in enumerate(ids)}
    indices.update((label, n) for n, label in reversed(list(enumerate(labels))) if label)
    return indices
