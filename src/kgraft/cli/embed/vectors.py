"""What the commands on trained vectors share: the folder, opened, and words for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_vectors
from kgraft.cli.output import escape

if TYPE_CHECKING:
    from kgraft.embed import LinkPredictor
    from kgraft.graph import Entity

Vectors = Annotated[
    Path, typer.Argument(help="The folder that 'kgraft embed train' wrote.", metavar="VECTORS")
]


def open_vectors(
    graph: str, vectors: Path, *, entities: Iterable[str] = (), relation: str | None = None
) -> LinkPredictor:
    """Open vectors with their graph, and say so where entities are new since the training.

    Entities and a relation that will be asked for are looked up first.
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    for name in entities:
        opened.resolve(name)
    if relation is not None:
        opened.relation(relation)
    need_vectors(vectors)
    from kgraft.embed import LinkPredictor

    predictor = LinkPredictor.from_pretrained(vectors, opened)
    unseen = len(predictor.vectors.trained.unseen)
    if unseen:
        words = f"{unseen:,} entities are new since the training"
        print(f"kgraft: {words}; their vectors come from their neighbours", file=sys.stderr)
    return predictor


def name_and_id(entity: Entity) -> str:
    """Return an entity's label and id, marked up."""
    return f"{escape(entity.label)} [cyan]{escape(entity.id)}[/]"


def figures_line(figures: dict[str, float]) -> str:
    """Return the figures of a ranking in one line."""
    names = {"mrr": "MRR", "hits1": "Hits@1", "hits3": "Hits@3", "hits10": "Hits@10"}
    return "  ".join(f"{words} {figures[name]:.4f}" for name, words in names.items())
