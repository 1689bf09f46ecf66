"""The text of an entity: its name, description, types and aliases in one line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers, take_rows
from kgraft.errors import BadInput
from kgraft.graph import Graph, Neighbour

FIELDS = ("label", "description", "types", "aliases")
ENTITY_FIELDS = (*FIELDS, "facts")
ALIASES = 8  # of those an entity without a description is known by
FACTS = 3  # that describe an entity without a description


def check_fields(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the fields in the order they are read; refuse none and unknown ones."""
    strange = [name for name in fields if name not in ENTITY_FIELDS]
    if strange or not fields or isinstance(fields, str):
        reason = f"no field is named {strange[0]!r}" if strange else "no field is named"
        raise BadInput(reason, remedy=f"choose from {', '.join(ENTITY_FIELDS)}")
    return tuple(name for name in ENTITY_FIELDS if name in fields)


def entity_texts(graph: Graph, entities: np.ndarray, fields: Sequence[str] = FIELDS) -> pa.Array:
    """Return a text for each entity: `label: description (types)`.

    Aliases and facts are for entities without a description: `label (types), also called aliases.
    facts in words`.
    """
    stored = [name for name in fields if name != "facts"]
    taken = take_rows(graph.entities.select(stored), entities)
    columns = {name: _column(taken, name) for name in FIELDS}
    aliases = pc.if_else(pc.equal(columns["description"], ""), columns["aliases"], "")
    parts = (
        columns["label"],
        _enclose(": ", columns["description"], ""),
        _enclose(" (", columns["types"], ")"),
        _enclose(", also called ", aliases, ""),
        _enclose(". ", _facts(graph, entities, columns["description"], fields), ""),
    )
    text = pc.binary_join_element_wise(*parts, "")
    if "label" not in fields:
        text = pc.utf8_ltrim(text, " :,.")
    return pc.utf8_trim_whitespace(text)


def _column(taken: pa.Table, name: str) -> pa.Array:
    """Return a column as plain text, lists joined by commas, nothing where it was not requested."""
    if name not in taken.column_names:
        return pa.array([""] * len(taken), pa.string())
    column = taken[name].combine_chunks()
    if name == "aliases":
        column = pc.list_slice(column, 0, ALIASES)
    if name in ("types", "aliases"):
        column = pc.binary_join(column, ", ")
    return pc.fill_null(column, "").cast(pa.string())


def _facts(
    graph: Graph, entities: np.ndarray, descriptions: pa.Array, fields: Sequence[str]
) -> pa.Array:
    """Return facts in words of each entity without a description, if facts are requested."""
    facts = [""] * len(entities)
    if "facts" in fields:
        for row in np.flatnonzero(numbers(pc.equal(descriptions, ""))).tolist():
            card = graph.card(int(entities[row]), limit=FACTS)
            facts[row] = "; ".join(map(_fact, card.neighbours))
    return pa.array(facts, pa.string())


def _fact(near: Neighbour) -> str:
    join = ": " if near.direction == "out" else " of "
    return f"{near.relation.label}{join}{near.entity.label}"


def _enclose(before: str, texts: pa.Array, after: str) -> pa.Array:
    """Put something before and after each text that is not empty."""
    enclosed = pc.binary_join_element_wise(before, texts, after, "")
    return pc.if_else(pc.equal(texts, ""), "", enclosed)
