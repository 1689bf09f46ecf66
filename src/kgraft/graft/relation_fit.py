"""Relation fit: how well each relation of a graph fits a text, by the phrases that say it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kgraft.corpus import relation_phrases
from kgraft.graph import Graph
from kgraft.text import Encoder


class RelationFit:
    """The phrases of a graph's relations (labels, aliases and templates), as vectors.

    >>> fit = RelationFit(Graph.open("world"))
    >>> scores = fit.scores(["is the capital of"])
    >>> fit.graph.relations["label"][scores[0].argmax().item()].as_py()
    'capital of'
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        """Return how well relations fit texts, (N, R): the cosine of the best of its phrases."""
        bounds, vectors = self._vectors
        return np.maximum.reduceat(self._encoder.encode(texts) @ vectors.T, bounds, axis=1)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder.load()

    @cached_property
    def _vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the phrases of each relation begin, (R,), and the vectors of all, (P, D)."""
        phrases = relation_phrases(self.graph)
        bounds = np.cumsum([0, *map(len, phrases)])[:-1]
        return bounds, self._encoder.encode([phrase for own in phrases for phrase in own])
