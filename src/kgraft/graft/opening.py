"""Recipes: how the knowledge of a graft is made again when the graft is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graft.expecting import ExpectingKnowledge
from kgraft.graft.knowledge import GraphKnowledge
from kgraft.graft.wordnet import SENSES, PartOfSpeech, WordNetKnowledge
from kgraft.graph import Graph
from kgraft.progress import Progress
from kgraft.vectors import (
    AncestorVectors,
    CombinedVectors,
    EntityVectors,
    NeighbourVectors,
    TableVectors,
    TextVectors,
    WordVectors,
)


def open_knowledge(
    graph: str | Path,
    tables: Sequence[str | Path] = (),
    *,
    hidden: str | None = None,
    upwards: Sequence[str] = (),
    progress: Progress | None = None,
) -> GraphKnowledge:
    """Return the knowledge of a graph: its texts, names, what is around, and trained tables.

    An entity's vector is that of its description, that of its name in the words of the default
    encoder, and the mean name of its neighbours, side by side. A graph of word senses, as `kgraft
    graph import` makes it of WordNet, is looked up by lemmas; its vectors are those of glosses, the
    mean of the glosses around, and the part of speech. With the sign of a `hidden` word, such as
    [MASK], what the graph says of a text's entities is expected where the sign stands. `upwards`
    are relations that lead to what an entity is a kind of: all its ancestors are then known too.
    """
    opened = Graph.open(graph)
    above = [AncestorVectors(opened, upwards)] if upwards else []
    text = TextVectors(opened)
    text.fill(progress=progress)
    senses = set(opened.entities.column_names) >= SENSES
    parts: list[EntityVectors] = [text]
    if senses:
        parts += [NeighbourVectors(text), PartOfSpeech(opened)]
    else:
        words = WordVectors(opened, text.encoder)
        parts += [words, NeighbourVectors(words)]
    parts += [*above, *(TableVectors.open(path, opened) for path in tables)]
    vectors = CombinedVectors(parts)
    knowledge: GraphKnowledge
    if hidden is not None:
        knowledge = ExpectingKnowledge(opened, vectors, hidden=hidden)
    else:
        knowledge = (WordNetKnowledge if senses else GraphKnowledge)(opened, vectors)
    knowledge.recipe = {"graph": str(graph), "tables": [str(path) for path in tables]}
    if upwards:
        knowledge.recipe["upwards"] = list(upwards)
    return knowledge


def from_recipe(told: dict[str, Any]) -> GraphKnowledge:
    """Make the knowledge that a graft was saved with."""
    recipe = told.get("recipe")
    if not recipe:
        name = told.get("name")
        raise BadInput(
            f"how to make the knowledge of {name} is not told", remedy="pass it yourself"
        )
    return open_knowledge(
        recipe["graph"], recipe["tables"], hidden=told.get("hidden"),
        upwards=recipe.get("upwards", ()),
    )  # fmt: skip
