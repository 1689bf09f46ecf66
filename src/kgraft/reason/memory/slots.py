"""Slots: what a graph says of an entity by one relation, and how that is asked for in words.

A slot is a query of `kgraft.measure`: an entity and a relation, or an entity and an inverse
relation, with all entities at the other end.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.arrays import expand
from kgraft.columns import arrow_numbers, arrow_strings, take_rows
from kgraft.corpus import bare_phrase, relation_templates
from kgraft.graph import Fact, Graph, fill_pattern
from kgraft.measure import Queries

_COMPARED = 100  # facts of a slot up to which they are looked for in others
_NAME = "\0"  # stands for the entity's name while a template is filled


def slots_of(graph: Graph, entities: np.ndarray) -> Queries:
    """Return the slots of some entities; only the facts of these are looked at."""
    adjacency, relations = graph.adjacency, graph.manifest.relations
    distinct = np.unique(entities).astype(np.int64)
    owner, edge = adjacency.rows(distinct, "both")
    relation, other = adjacency.edges[edge].astype(np.int64).T
    is_inverse = edge >= adjacency.spans(distinct, "out")[1][owner]
    return Queries.group(distinct[owner], relation + relations * is_inverse, other, relations)


def slot_facts(slots: Queries, row: int) -> list[Fact]:
    """Return the facts of a slot, by index."""
    entity, relation = int(slots.entity[row]), int(slots.relation[row])
    others = slots.answer[slots.bounds[row] : slots.bounds[row + 1]].tolist()
    if relation < slots.relations:
        return [Fact(entity, relation, other) for other in others]
    return [Fact(other, relation - slots.relations, entity) for other in others]


def distinct_facts(slots: Queries, rows: np.ndarray, limit: int) -> np.ndarray:
    """Return the first `limit` of some slots, without those whose facts earlier ones hold.

    A fact stands in two slots, one for either end. Only slots of a single fact are left out.
    """
    seen: set[Fact] = set()
    kept: list[int] = []
    for row in rows.tolist():
        if len(kept) == limit:
            break
        count = int(slots.bounds[row + 1] - slots.bounds[row])
        facts = slot_facts(slots, row) if count <= _COMPARED else []
        if count > 1 or facts[0] not in seen:
            kept.append(row)
        seen.update(facts)
    return np.array(kept, np.int64)


def most_connected(graph: Graph, slots: Queries, rows: np.ndarray, count: int) -> list[np.ndarray]:
    """Return of each slot at most `count` entities at the other end, those with most facts."""
    owner, position = expand(slots.bounds[rows], slots.bounds[rows + 1])
    other = slots.answer[position]
    order = np.lexsort((other, -graph.adjacency.degree(entities=other), owner))
    ends = np.cumsum(np.bincount(owner, minlength=len(rows)))[:-1]
    return [part[:count] for part in np.split(other[order], ends)]


class SlotWords:
    """Says slots in words: "Laval country" for what Laval's country is, "country Canada" for what
    has the country Canada; relations with a template by that, "Laval is located in".
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        templates = relation_templates(graph)
        phrases = [_around_name(t, end) for end in ("x", "y") for t in templates]
        self._before = arrow_strings([before for before, _ in phrases])  # (2R,)
        self._after = arrow_strings([after for _, after in phrases])  # (2R,)

    def __call__(self, entities: np.ndarray, relations: np.ndarray) -> pa.Array:
        """Return the words of slots (n,), for relations 0…R−1 and R…2R−1 for their inverses."""
        names = entity_names(self.graph, entities)
        rows = arrow_numbers(np.asarray(relations, np.int64))
        before, after = self._before.take(rows), self._after.take(rows)
        return pc.binary_join_element_wise(before, names, after, pa.scalar("", pa.large_string()))


def entity_names(graph: Graph, entities: np.ndarray) -> pa.Array:
    """Return the label of each entity, or its id where it has none."""
    taken = take_rows(graph.entities.select(["id", "label"]), np.asarray(entities, np.int64))
    ids, labels = (taken[n].combine_chunks().cast(pa.large_string()) for n in ("id", "label"))
    return pc.if_else(pc.equal(labels, ""), ids, labels)


def _around_name(template: str, end: str) -> tuple[str, str]:
    """Return what a template says before and after the name of one end, the other unnamed."""
    words, _ = fill_pattern(template, {"x": "", "y": "", end: _NAME})
    before, _, after = bare_phrase(words.replace("_", " ")).partition(_NAME)
    return before, after
