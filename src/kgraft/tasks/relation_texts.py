"""Texts that state relations, read from files and by joint models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from kgraft.corpus import AnnotatedTexts, read_records
from kgraft.errors import BadInput
from kgraft.graph import UNKNOWN, Graph, Mentions
from kgraft.joint import FineTuning, GoldWindows, JointModel
from kgraft.tasks.examples import mark_spans
from kgraft.text import length_batches
from kgraft.vectors import Memory

TOKENS = 2048  # that are read together, padding included


class _Line(NamedTuple):
    """A line of a file of texts with relations."""

    text: str  # with signs at the spans
    spans: list[tuple[int, int]]
    ids: list[str | None]  # of both ends, None where the line does not say
    names: list[str]  # of both ends
    relation: str

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        ends = [fields[name] for name in ("head", "tail")]
        bounds = [[end["start"], end["end"]] for end in ends]
        text, spans = mark_spans(fields["text"], *bounds)
        names = [fields["text"][start:end] for start, end in bounds]
        ids = [(end["entity"] or "") if "entity" in end else None for end in ends]
        return cls(text, spans, ids, names, str(fields["relation"]))


@dataclass(frozen=True)
class RelationTexts:
    """Texts with two marked spans each, the entities they refer to, and the relation they state."""

    texts: list[str]  # with signs at the spans
    span: np.ndarray  # (N, 2, 2) start and end of both
    entity: np.ndarray  # (N, 2), UNKNOWN where the graph lacks it
    relation: np.ndarray  # (N,)
    names: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def read(cls, path: Path, graph: Graph, *, without: Sequence[str] = ()) -> RelationTexts:
        """Read JSON Lines of `text`, `head`, `tail` and `relation`, but some of the relations.

        An end without an `entity` refers to the likeliest one of its name.
        """
        every = read_records(path, _Line.of, "text with a relation")
        lines = [line for line in every if line.relation not in without]
        if not lines:
            raise BadInput("contains no text with a relation", file=str(path))
        labels, relation = np.unique([line.relation for line in lines], return_inverse=True)
        return cls(
            [line.text for line in lines],
            np.array([line.spans for line in lines], np.int64),
            _entities_of(lines, graph),
            relation,
            labels.tolist(),
        )

    def select(self, rows: np.ndarray) -> RelationTexts:
        """Return some of the texts."""
        texts = [self.texts[row] for row in rows.tolist()]
        columns = (self.span[rows], self.entity[rows], self.relation[rows])
        return RelationTexts(texts, *columns, self.names)

    def annotated(self) -> AnnotatedTexts:
        """Return the texts with their two spans as mentions."""
        text = np.repeat(np.arange(len(self)), 2)
        start, end = self.span.reshape(-1, 2).T
        mentions = Mentions.without_candidates(text, start, end, gold=self.entity.ravel())
        return AnnotatedTexts(self.texts, mentions)


def _entities_of(lines: Sequence[_Line], graph: Graph) -> np.ndarray:
    """Return the entities of both ends of each line, (N, 2)."""
    ids = [id_ for line in lines for id_ in line.ids]
    names = [name for line in lines for name in line.names]
    entity = graph.indices_of([id_ or "" for id_ in ids])
    look_up = cache(partial(_likeliest, graph))
    for row, id_ in enumerate(ids):
        if id_ is None:
            entity[row] = look_up(names[row])
    return entity.reshape(-1, 2)


def _likeliest(graph: Graph, name: str) -> int:
    """Return the entity that a name refers to most often, UNKNOWN where there is none."""
    row = graph.aliases.row(name)
    return UNKNOWN if row is None else int(graph.aliases.candidates(row, 1)[0][0])


class RelationReader:
    """Reads the vectors of texts with a joint model.

    What the graph says of the two entities of a text together is hidden from it.
    """

    def __init__(
        self,
        model: JointModel,
        graph: Graph,
        memory: Memory,
        data: RelationTexts,
        *,
        use_knowledge: bool = True,
    ) -> None:
        self.model, self.graph, self.memory = model, graph, memory
        self.use_knowledge = use_knowledge
        windows = model.encoder.windows(data.texts).firsts()
        self.windows = GoldWindows.of(windows, data.annotated())
        text = np.repeat(np.arange(len(data)), 2)
        spans = windows.locate(text, data.span[:, :, 0].ravel(), data.span[:, :, 1].ravel())
        self.column = spans.first.reshape(-1, 2)  # 0 where the window ends before the span
        self.entity = data.entity

    @classmethod
    def of(cls, tuning: FineTuning, data: RelationTexts) -> Self:
        """Return the reader of a fine-tuning for texts."""
        parts = (tuning.model, tuning.graph, tuning.memory, data)
        return cls(*parts, use_knowledge=tuning.use_knowledge)

    def __call__(self, rows: np.ndarray, *, seed: int) -> Tensor:
        """Return what is read at the two spans of some texts, side by side, (n, 2 F).

        Texts of similar length are read together, so that little is padded.
        """
        groups = length_batches(self.windows.lengths[rows], TOKENS)
        read = torch.cat([self._read(rows[group], seed) for group in groups])
        return read[torch.from_numpy(np.argsort(np.concatenate(groups)))]

    def _read(self, rows: np.ndarray, seed: int) -> Tensor:
        batch = self.windows.batch(rows)
        text = rows[batch.mentions.window.numpy()]
        read = self.model.read(
            batch,
            self.graph,
            self.memory,
            seed=seed,
            hidden=self._other_ends(text, batch.mentions.first_entity.numpy()),
            use_knowledge=self.use_knowledge,
        )
        ends = torch.from_numpy(self.column[rows])  # (n, 2)
        return read[torch.arange(len(rows))[:, None], ends].flatten(1)

    def _other_ends(self, text: np.ndarray, entity: np.ndarray) -> np.ndarray:
        """Return the other entity of the text of each mentioned one, (S, 1)."""
        pair = self.entity[text]
        other = np.where(pair[:, 0] == entity, pair[:, 1], pair[:, 0])
        return other[:, None]

    @torch.no_grad()
    def all(self) -> np.ndarray:
        """Return the vectors of all texts, each of length 1, (N, 2 F)."""
        self.model.eval()
        size = 2 * self.model.encoder.dimension
        vectors = np.zeros((len(self.windows), size), np.float32)
        for index, rows in enumerate(length_batches(self.windows.lengths, TOKENS)):
            vectors[rows] = normalize(self._read(rows, index), dim=-1).numpy()
        return vectors
