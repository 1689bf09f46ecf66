"""Facts by name: adding one, and removing parts, where people give labels in place of ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.errors import BadInput, NotFound
from kgraft.graph.batches import PARTS, Refusals, Triples
from kgraft.graph.entity import Entity, Relation
from kgraft.graph.graph import Graph
from kgraft.graph.io.formats import open_source
from kgraft.graph.search import search_nearby
from kgraft.progress import Progress, Silent

_SHOWN = 5  # namesakes that a message lists


@dataclass(frozen=True)
class AddedFact:
    """A graph with one more fact, and what its words were taken for."""

    graph: Graph
    head: Entity
    relation: Relation
    tail: Entity
    new: tuple[str, ...]  # ids of the entities and the relation that were not there before
    was_there: bool  # whether the graph had the fact already


def labelled(graph: Graph, name: str) -> Entity | None:
    """Return the entity of an id or else of exactly this label, None where there is none."""
    index = int(graph.indices_of([name])[0])
    if index >= 0:
        return graph.entity(index)
    rows = np.flatnonzero(numbers(pc.fill_null(pc.equal(graph.entities["label"], name), False)))
    namesakes = graph.entities_at(rows[: _SHOWN + 1])
    if len(rows) > 1:
        raise _ambiguous(name, namesakes, len(rows))
    return namesakes[0] if namesakes else None


def _ambiguous(name: str, namesakes: Sequence[Entity], count: int) -> BadInput:
    ids = ", ".join(entity.id for entity in namesakes[:_SHOWN])
    more = ", …" if count > _SHOWN else ""
    remedy = f"name one by its id: {ids}{more}"
    return BadInput(f"{count} entities are named {name!r}", remedy=remedy)


def add_fact(
    graph: Graph,
    fact: Sequence[str],
    target: Path,
    *,
    known_only: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> AddedFact:
    """Write the graph with one fact more: head, relation and tail by id, label or name.

    A name that nothing has becomes a new entity or relation with the name as its id and label;
    with `known_only` it is refused.
    """
    names = _resolved(graph, fact)
    head, relation, tail = names.ids
    absent = (*names.new_entities, *names.new_relations)
    if absent and known_only:
        raise _absent(graph, absent[0])
    was_there = not absent and _holds(graph, names.ids)
    extended = graph.extend(
        target,
        triples=[] if was_there else [names.ids],
        entities=[{"id": name, "label": name} for name in names.new_entities],
        relations=[{"id": name, "label": name} for name in names.new_relations] or None,
        overwrite=overwrite,
        progress=progress,
    )
    parts = (extended.entity(head), extended.relation(relation), extended.entity(tail))
    return AddedFact(extended, *parts, absent, was_there)


@dataclass(frozen=True)
class _ResolvedFact:
    """The ids of a fact's parts, and those that the graph does not have: the names as given."""

    ids: tuple[str, str, str]
    new_entities: list[str]
    new_relations: list[str]


def _resolved(graph: Graph, fact: Sequence[str]) -> _ResolvedFact:
    head, relation, tail = _checked(fact)
    ends = {name: _known(graph, name) for name in dict.fromkeys((head, tail))}
    link = _known_relation(graph, relation)
    ids = {name: name if entity is None else entity.id for name, entity in ends.items()}
    return _ResolvedFact(
        (ids[head], relation if link is None else link.id, ids[tail]),
        [name for name, entity in ends.items() if entity is None],
        [relation] if link is None else [],
    )


def _absent(graph: Graph, name: str) -> NotFound:
    hint = _suggestion(graph, name)
    return NotFound(f"nothing in the graph is named {name!r}" + (f"; {hint}" if hint else ""))


def _suggestion(graph: Graph, name: str) -> str:
    """Return a question that names the entity nearest to a name, or nothing."""
    near = search_nearby(graph, name, limit=1)
    return f"did you mean {near[0].entity.label} ({near[0].entity.id})?" if near else ""


def _checked(fact: Sequence[str]) -> tuple[str, str, str]:
    if len(fact) != len(PARTS):
        raise BadInput(f"a fact has a head, a relation and a tail; got {len(fact)} of them")
    empty = [part for part, name in zip(PARTS, fact, strict=True) if not name.strip()]
    if empty:
        raise BadInput(f"the {empty[0]} of the fact is empty")
    return fact[0], fact[1], fact[2]


def _known(graph: Graph, name: str) -> Entity | None:
    """Return the entity of an id, a label, or a name that means no other one."""
    entity = labelled(graph, name)
    namesakes = [entity] if entity else graph.find(name)
    if len(namesakes) > 1:
        raise _ambiguous(name, namesakes, len(namesakes))
    return namesakes[0] if namesakes else None


def _known_relation(graph: Graph, name: str) -> Relation | None:
    try:
        return graph.relation(name)
    except NotFound:
        return None


def _holds(graph: Graph, triple: Sequence[str]) -> bool:
    head, relation, tail = triple
    near = graph.neighbours(head, relation=relation, direction="out")
    return any(neighbour.entity.id == tail for neighbour in near)


def read_triples(path: Path) -> Iterator[list[str]]:
    """Yield head, relation and tail of the triples of a file or folder that can be imported."""
    for batch in open_source(path).batches(Refusals(), Silent()):
        if isinstance(batch, Triples):
            columns = (column.to_pylist() for column in (batch.head, batch.relation, batch.tail))
            yield from (list(row) for row in zip(*columns, strict=True))


def remove_parts(
    graph: Graph,
    target: Path,
    *,
    entities: Iterable[str] = (),
    relations: Iterable[str] = (),
    triples: Iterable[Sequence[str]] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """Write the graph without some parts, each by id or exact label; all must be there."""
    facts, entities = [_checked(triple) for triple in triples], list(entities)
    ends = [name for head, _, tail in facts for name in (head, tail)]
    ids = {name: _present(graph, name).id for name in dict.fromkeys([*entities, *ends])}
    return graph.without(
        target,
        entities=[ids[name] for name in entities],
        relations=[graph.relation(name).id for name in relations],
        triples=[(ids[head], graph.relation(link).id, ids[tail]) for head, link, tail in facts],
        overwrite=overwrite,
        progress=progress,
    )


def _present(graph: Graph, name: str) -> Entity:
    entity = labelled(graph, name)
    if entity is None:
        hint = _suggestion(graph, name) or "try: kgraft graph search WORDS"
        raise NotFound(f"no entity has the id or label {name!r}; nothing was changed; {hint}")
    return entity
