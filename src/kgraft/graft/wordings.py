"""Wordings: the ways in which relations are said, and how well each relation fits a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kgraft.corpus import relation_phrases
from kgraft.graph import Graph
from kgraft.text import Encoder


class Wordings:
    """How the relations of a graph are said: their names, aliases, and templates.

    >>> wordings = Wordings(Graph.open("world"))
    >>> fit = wordings.fit(["is the capital of"])
    >>> wordings.graph.relations["label"][fit[0].argmax().item()].as_py()
    'capital of'
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def fit(self, texts: Sequence[str]) -> np.ndarray:
        """Return how well relations fit texts, (n, R): the cosine of the best of its wordings."""
        bounds, vectors = self._vectors
        return np.maximum.reduceat(self._encoder.encode(texts) @ vectors.T, bounds, axis=1)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder.load()

    @cached_property
    def _vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the wordings of each relation begin, (R,), and the vectors of all, (W, D)."""
        phrases = relation_phrases(self.graph)
        bounds = np.cumsum([0, *map(len, phrases)])[:-1]
        return bounds, self._encoder.encode([phrase for own in phrases for phrase in own])
