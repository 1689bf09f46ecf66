"""Search for entities by name (exact, by prefix, by words, with typos) and by description."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.graph.entity import Found
from kgraft.graph.names.fold import fold_name

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
    hits: dict[int, tuple[int, Literal["name", "prefix", "words"]]] = {}
    for how, rows in stages:
        if len(hits) < limit:
            for entity, alias in aliases.best(rows(query), limit + len(hits)):
                hits.setdefault(entity, (alias, how))
    chosen = list(hits.items())[:limit]
    entities = graph.entities_at([index for index, _ in chosen])
    return [
        Found(entity, aliases.keys[alias], how)
        for entity, (_, (alias, how)) in zip(entities, chosen, strict=True)
    ]


def search_all(graph: Graph, query: str, *, limit: int = 10) -> list[Found]:
    """Return up to `limit` entities by name, then by similar names, then by description.

    Similar names are looked for only where no name is exactly the query.
    """
    hits = search(graph, query, limit=limit)
    if not any(hit.how == "name" for hit in hits):
        hits += _new(search_similar(graph, query, limit=limit + len(hits)), hits)
    if len(hits) < limit:
        hits += _new(search_descriptions(graph, query, limit=limit + len(hits)), hits)
    return hits[:limit]


def _new(hits: list[Found], known_hits: list[Found]) -> list[Found]:
    indices = {hit.entity.index for hit in known_hits}
    return [hit for hit in hits if hit.entity.index not in indices]


def search_similar(graph: Graph, name: str, *, limit: int = 10) -> list[Found]:
    """Return the entities whose name differs by one or two typos, fewer first, then by weight."""
    aliases = graph.aliases
    rows, distance = graph.similar_names.find(fold_name(name))
    alias_of: dict[int, int] = {}
    for typos in np.unique(distance).tolist():
        for entity, alias in aliases.best(rows[distance == typos], limit + len(alias_of)):
            alias_of.setdefault(entity, alias)
    chosen = list(alias_of.items())[:limit]
    entities = graph.entities_at([index for index, _ in chosen])
    return [
        Found(entity, aliases.keys[alias], "similar")
        for entity, (_, alias) in zip(entities, chosen, strict=True)
    ]


def search_descriptions(graph: Graph, words: str, *, limit: int = 10) -> list[Found]:
    """Return the entities whose description has all the words, those of most triples first."""
    wanted = re.findall(r"\w+", words)
    if not wanted:
        return []
    column, rows = graph.entities["description"], np.arange(graph.manifest.entities)
    for word in sorted(set(wanted), key=len, reverse=True):
        pattern = rf"(?i)(?:^|[^\pL\pN_]){re.escape(word)}(?:$|[^\pL\pN_])"
        mask = pc.fill_null(pc.match_substring_regex(column, pattern), False)
        column, rows = column.filter(mask), rows[numbers(mask)]
    degree = graph.adjacency.degree(entities=rows)
    top = rows[np.argsort(-degree, kind="stable")[:limit]]
    return [
        Found(entity, fold_name(entity.label), "description") for entity in graph.entities_at(top)
    ]


def search_nearby(graph: Graph, name: str, *, limit: int = 3) -> list[Found]:
    """Return what is named like a name that was not found: with typos, else by its beginning."""
    similar = search_similar(graph, name, limit=limit)
    if similar:
        return similar
    longest = min(len(name), _LONGEST)
    beginnings = (name[:length] for length in range(longest, _SHORTEST - 1, -1))
    return next((hits for start in beginnings if (hits := search(graph, start, limit=limit))), [])
