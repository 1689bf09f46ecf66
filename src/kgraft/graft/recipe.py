"""Recipes: how the knowledge of a graft is made again when the graft is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graft.knowledge import GraphKnowledge
from kgraft.graft.wordnet import SENSES, PartOfSpeech, WordNetKnowledge
from kgraft.graph import Graph
from kgraft.progress import Progress
from kgraft.vectors import CombinedVectors, EntityVectors, TableVectors, TextVectors


def open_knowledge(
    graph: str | Path,
    tables: Sequence[str | Path] = (),
    *,
    progress: Progress | None = None,
) -> GraphKnowledge:
    """Return the knowledge of a graph: encoded descriptions, and the vectors of trained tables.

    A graph of word senses, as `kgraft graph import` makes it of WordNet, is looked up by lemmas.
    """
    opened = Graph.open(graph)
    text = TextVectors(opened)
    text.fill(progress=progress)
    parts: list[EntityVectors] = [text, *(TableVectors.open(path, opened) for path in tables)]
    senses = set(opened.entities.column_names) >= SENSES
    if senses:
        parts.append(PartOfSpeech(opened))
    vectors = CombinedVectors(parts) if len(parts) > 1 else text
    kind = WordNetKnowledge if senses else GraphKnowledge
    knowledge = kind(opened, vectors)
    knowledge.recipe = {"graph": str(graph), "tables": [str(path) for path in tables]}
    return knowledge


def from_recipe(told: dict[str, Any]) -> GraphKnowledge:
    """Make the knowledge that a graft was saved with."""
    recipe = told.get("recipe")
    if not recipe:
        name = told.get("name")
        raise BadInput(
            f"how to make the knowledge of {name} is not told", remedy="pass it yourself"
        )
    return open_knowledge(recipe["graph"], recipe["tables"])
