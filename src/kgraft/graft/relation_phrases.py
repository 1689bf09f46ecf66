"""Wordings: the ways in which relations are said, and how well each relation fits a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kgraft.corpus import OBJECT, SUBJECT, relation_templates
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
        said = _said(self.graph)
        bounds = np.cumsum([0, *map(len, said)])[:-1]
        return bounds, self._encoder.encode([words for several in said for words in several])


def _said(graph: Graph) -> list[list[str]]:
    """Return the wordings of each relation, each once."""
    columns = [n for n in ("id", "label", "aliases") if n in graph.relations.column_names]
    rows = graph.relations.select(columns).to_pylist()
    said = []
    for row, template in zip(rows, relation_templates(graph), strict=True):
        words = template.replace(SUBJECT, " ").replace(OBJECT, " ")
        plain = bare(words), row["label"] or row["id"], *(row.get("aliases") or ())
        said.append(list(dict.fromkeys(words for words in plain if words)))
    return said


def bare(text: str) -> str:
    """Return a text without spaces that say nothing, and without its full stop."""
    return " ".join(text.split()).rstrip(" .")
