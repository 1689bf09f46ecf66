"""The texts a model learns from where none are given: what a graph says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.graph.annotated import Annotated

COUNT = 4000  # texts


def own_texts(graph: Graph, seed: int) -> Annotated:
    """Say what a graph knows: half of the texts state its facts, the others ask and describe."""
    from kgraft.graph.annotated import joined
    from kgraft.graph.say import fact_texts
    from kgraft.link import graph_texts

    parts = [graph_texts(graph, COUNT // 2, seed=seed)]
    if len(graph.triples):
        parts.append(fact_texts(graph, COUNT // 2, seed=seed))
    return joined(parts)
