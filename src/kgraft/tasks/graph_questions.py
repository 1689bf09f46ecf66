"""Questions over a graph: each is about an entity, and other entities answer it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgraft.corpus import AnnotatedTexts, read_json_lines
from kgraft.errors import BadInput
from kgraft.graph import Entity, Graph, Mentions
from kgraft.json_text import parse_json
from kgraft.link import Linker


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
        """Read JSON Lines of `text`, `mentions` and `answers`, entities told by label or by id.

        Questions about something that the graph lacks are left out.
        """
        numbers = _numbers(graph)
        texts, rows, answers = [], [], []
        for line_number, line in read_json_lines(path):
            try:
                told = parse_json(line)
                mention = told["mentions"][0]
                topic = numbers.get(mention["label"] if "label" in mention else mention["entity"])
                found = [numbers[name] for name in told["answers"] if name in numbers]
                start, end, text = int(mention["start"]), int(mention["end"]), str(told["text"])
            except (ValueError, LookupError, TypeError) as error:
                reason = f"no question ({type(error).__name__}: {error})"
                raise BadInput(reason, file=str(path), line=line_number) from error
            if topic is not None:
                texts.append(text)
                rows.append((topic, start, end))
                answers.append(np.array(found, np.int64))
        if not texts:
            raise BadInput("holds no question about the graph", file=str(path))
        topics, starts, ends = np.array(rows, np.int64).T
        return cls(texts, topics, starts, ends, answers)

    @classmethod
    def asked(cls, texts: Sequence[str], linker: Linker, about: Entity | None = None) -> Questions:
        """Find what questions of people are about: the likeliest link of each, unless it is told.

        An entity that is told need not be named in the question.
        """
        rows = []
        for text, links in zip(texts, linker.link(texts), strict=True):
            if about is not None:
                links = [link for link in links if link.entity.index == about.index]
                rows.append((about.index, *((links[0].start, links[0].end) if links else (0, 0))))
            elif links:
                best = max(links, key=lambda link: link.score)
                rows.append((best.entity.index, best.start, best.end))
            else:
                said = f"no entity of the graph is found in {text!r}"
                raise BadInput(said, remedy="say what the question is about: --about NAME")
        nothing = [np.zeros(0, np.int64) for _ in texts]
        topics, starts, ends = np.array(rows, np.int64).reshape(-1, 3).T
        return cls(list(texts), topics, starts, ends, nothing)

    def part(self, rows: np.ndarray) -> Questions:
        """Return some of the questions."""
        texts, answers = ([held[n] for n in rows.tolist()] for held in (self.texts, self.answers))
        return Questions(texts, self.topic[rows], self.start[rows], self.end[rows], answers)

    def digest(self) -> str:
        """Return a name for the questions and their answers: other ones have another."""
        found = hashlib.sha256(self.annotated().digest().encode())
        for answers in self.answers:
            found.update(answers.tobytes() + b";")
        return found.hexdigest()[:16]

    def annotated(self) -> AnnotatedTexts:
        """Return the topics as mentions."""
        text = np.arange(len(self))
        mentions = Mentions.without_candidates(text, self.start, self.end, gold=self.topic)
        return AnnotatedTexts(self.texts, mentions)


def _numbers(graph: Graph) -> dict[str, int]:
    """Return the number of each entity by its label, and by its id where that is no label.

    Of entities with the same label it is that of the first.
    """
    ids, labels = (graph.entities[name].to_pylist() for name in ("id", "label"))
    found = {name: number for number, name in enumerate(ids)}
    found.update((label, n) for n, label in reversed(list(enumerate(labels))) if label)
    return found
