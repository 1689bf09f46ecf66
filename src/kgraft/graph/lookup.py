"""Look-ups by id, label, name or index, and what to say where nothing is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgraft.errors import NotFound
from kgraft.graph.entity import Candidate, Entity, EntityLike, Relation
from kgraft.graph.search import search_nearby
from kgraft.graph.stored import StoredGraph

if TYPE_CHECKING:
    from kgraft.graph.graph import Graph

_SHOWN = 8  # relations that a message lists


def find_index(graph: Graph, which: EntityLike) -> int:
    """Return the index of an entity, given itself, its id, its exact label or its index."""
    if isinstance(which, bool) or not isinstance(which, Entity | str | int | np.integer):
        remedy = "give the entity, its id, its exact label or its index"
        raise TypeError(f"{which!r} is not an entity: {remedy}")
    if isinstance(which, int | np.integer):
        if not 0 <= which < len(graph):
            valid = f"indices go from 0 to {len(graph) - 1}"
            raise NotFound(f"no entity has the index {which}; {valid}")
        return int(which)
    if isinstance(which, Entity):
        if 0 <= which.index < len(graph) and graph.id_column[which.index] == which.id:
            return which.index
        return _index_of_id(graph, which.id)
    by_id = int(graph.indices_of([which])[0])
    return by_id if by_id >= 0 else _index_of_label(graph, which)


def _index_of_id(graph: StoredGraph, item: str) -> int:
    index = int(graph.indices_of([item])[0])
    if index < 0:
        raise NotFound(f"the graph {graph.manifest.name} has no entity {item!r}")
    return index


def _index_of_label(graph: Graph, label: str) -> int:
    """Return the index of the likeliest entity of exactly this label."""
    labelled = (entity.index for entity in graph.find(label) if entity.label == label)
    index = next(labelled, -1)
    if index < 0:
        hint = f"try: kgraft graph search {label!r}"
        raise NotFound(f"no entity has the id or label {label!r}; {hint}")
    return index


def find_relation(graph: StoredGraph, which: str | int) -> Relation:
    """Return a relation by id, by label, or by index."""
    if isinstance(which, int | np.integer):
        if not 0 <= which < graph.manifest.relations:
            raise NotFound(f"no relation has the index {which}")
        return graph.all_relations[which]
    index = graph.relation_indices.get(which)
    if index is not None:
        return graph.all_relations[index]
    for relation in graph.all_relations:
        if relation.label == which:
            return relation
    ids = ", ".join(relation.id for relation in graph.all_relations[:_SHOWN])
    raise NotFound(f"no relation is named {which!r}; the graph has {ids}, …")


def resolve_name(graph: Graph, which: str) -> Entity:
    """Return the entity of an id or, failing that, the likeliest of that name."""
    index = int(graph.indices_of([which])[0])
    if index >= 0:
        return graph.entity(index)
    namesakes = graph.find(which)
    if namesakes:
        return namesakes[0]
    near = ", ".join(f"{hit.entity.label} ({hit.entity.id})" for hit in search_nearby(graph, which))
    hint = f"did you mean {near}?" if near else "try: kgraft graph search WORDS"
    raise NotFound(f"nothing in the graph is named {which!r}; {hint}")


def candidates_by_alias(
    graph: StoredGraph, aliases: Sequence[int], limit: int | None = None
) -> dict[int, tuple[Candidate, ...]]:
    """Return the best candidates of each alias; every entity is read once."""
    weighed = {alias: graph.aliases.candidates(alias, limit) for alias in aliases}
    indices = {index for entity, _ in weighed.values() for index in entity.tolist()}
    entities = {entity.index: entity for entity in graph.entities_at(sorted(indices))}
    return {
        alias: tuple(
            Candidate(entities[index], prior)
            for index, prior in zip(entity.tolist(), priors.tolist(), strict=True)
        )
        for alias, (entity, priors) in weighed.items()
    }
