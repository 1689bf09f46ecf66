"""The texts a model learns from where none are given: what a graph says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgraft.corpus import AnnotatedTexts
    from kgraft.graph import Graph

COUNT = 4000  # texts


def own_texts(graph: Graph, seed: int) -> AnnotatedTexts:
    """Say what a graph knows: half of the texts state its facts, the others ask and describe."""
    from kgraft.corpus import AnnotatedTexts, fact_texts
    from kgraft.link import graph_texts

    parts = [graph_texts(graph, COUNT // 2, seed=seed)]
    if len(graph.triples):
        parts.append(fact_texts(graph, COUNT // 2, seed=seed))
    return AnnotatedTexts.concat(parts)
