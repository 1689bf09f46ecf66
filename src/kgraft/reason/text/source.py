"""A text completer as a source of answers."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np

from kgraft.graph import Graph
from kgraft.measure import QueryBatch
from kgraft.progress import Progress, Silent
from kgraft.reason.reasons import Reason
from kgraft.reason.text.completer import TextCompleter
from kgraft.reason.text.texts import CompletionTexts
from kgraft.vectors import TextCache

TEXTS = 2048  # encoded at once


class TextSource:
    """Ranks the answers of a query by the cosine of its text and theirs.

    The texts of all entities are encoded when they are first needed, or by `fill`, and kept in the
    cache: `cache` names a folder, True is kgraft's own, False keeps them in memory only.
    """

    name = "text"
    is_probability = False

    def __init__(
        self, completer: TextCompleter, graph: Graph, *, cache: bool | str | Path = True
    ) -> None:
        self.completer, self.graph = completer, graph
        self.texts = CompletionTexts(graph)
        self._cache = TextCache(completer.encoder, cache=cache)
        self._entities: np.ndarray | None = None
        self._lock = threading.Lock()

    def fill(self, *, progress: Progress | None = None) -> None:
        """Encode all entities that are not in the cache; an interrupted call resumes."""
        with self._lock:
            if self._entities is not None:
                return
            progress = progress or Silent()
            progress.start("encoding entities", len(self.graph))
            vectors = np.zeros((len(self.graph), self.completer.encoder.dimension), np.float32)
            for first in range(0, len(vectors), TEXTS):
                rows = np.arange(first, min(first + TEXTS, len(vectors)))
                vectors[rows] = self._cache.take(self.texts.entities(rows))
                progress.advance(len(rows))
            self._entities = vectors

    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the cosine of each query and each entity over τ, (B, N)."""
        self.fill()
        assert self._entities is not None
        texts = self.texts.queries(batch.entity, batch.relation).to_pylist()
        cosines: np.ndarray = self.completer.encoder.encode(texts) @ self._entities.T
        return cosines * np.float32(self.completer.scale)

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int) -> list[Reason]:
        """Return the two texts that fit; there are no facts behind it."""
        if limit < 1:
            return []
        query = self.texts.queries(np.array([entity]), np.array([relation]))[0].as_py()
        described = self.texts.entities(np.array([answer]))[0].as_py()
        asked, fitting = self.completer.encoder.encode([query, described])
        score = float(np.clip(asked @ fitting, 0, 1))
        return [Reason(self.name, f"“{query}” fits “{described}”", score)]
