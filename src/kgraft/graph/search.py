"""Search for entities by name: exact, by prefix, and by words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from kgraft.graph.entity import Found

if TYPE_CHECKING:
    from kgraft.graph.graph import Graph

_SHORTEST, _LONGEST = 3, 40  # letters of the beginnings that are tried


def search(graph: Graph, query: str, *, limit: int = 10) -> list[Found]:
    """Return up to `limit` entities: exact names, then prefixes, then words, each by weight."""
    aliases = graph.aliases
    stages: list[tuple[Literal["name", "prefix", "words"], Callable[[str], np.ndarray]]] = [
        ("name", aliases.named),
        ("prefix", aliases.starting_with),
        ("words", aliases.with_words),
    ]
    found: dict[int, tuple[int, Literal["name", "prefix", "words"]]] = {}
    for how, rows in stages:
        if len(found) < limit:
            for entity, alias in aliases.best(rows(query), limit + len(found)):
                found.setdefault(entity, (alias, how))
    chosen = list(found.items())[:limit]
    entities = graph.entities_at([number for number, _ in chosen])
    return [
        Found(entity, aliases.keys[alias], how)
        for entity, (_, (alias, how)) in zip(entities, chosen, strict=True)
    ]


def search_nearby(graph: Graph, name: str, *, limit: int = 3) -> list[Found]:
    """Return what is named like a name that was not found, by its longest beginning that is one."""
    longest = min(len(name), _LONGEST)
    beginnings = (name[:length] for length in range(longest, _SHORTEST - 1, -1))
    return next((found for start in beginnings if (found := search(graph, start, limit=limit))), [])
