"""JSON objects of other programs as entities, relations and triples with our names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgraft.graph.batches import PARTS
from kgraft.graph.io.tables.column_names import (
    DIRECTIONS,
    RELATED,
    RELATIONS,
    edge_columns,
    entity_columns,
    plain_name,
)

KINDS = ("entity", "relation", "triple", "literal")
WORDS = {"node": "entity", "vertex": "entity", "edge": "triple", "relationship": "triple"}

Object = dict[str, Any]


def translate(value: Object) -> tuple[Object, str, list[str]]:
    """Return an object with our names, what it is, and what was read as what.

    One that says in `kind` what it is keeps its names.

    >>> translate({"source": 1, "target": 2})[:2]
    ({'head': '1', 'relation': 'related to', 'tail': '2'}, 'triple')
    >>> translate({"id": 7, "name": "Ann"})[0]
    {'id': '7', 'label': 'Ann'}
    """
    kind = value.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        return value, kind, []
    if "properties" in value and value.get("type") in ("node", "relationship"):
        return _apoc(value)
    if all(part in value for part in PARTS):
        return _whole_triple(value)
    if edge_columns(list(value)) or WORDS.get(str(kind)) == "triple":
        return edge(value)
    return entity({k: v for k, v in value.items() if k != "kind" or str(v) not in WORDS})


def _whole_triple(value: Object) -> tuple[Object, str, list[str]]:
    if "kind" in value and str(value["kind"]) not in WORDS:
        shown = json.dumps(value["kind"])[:40]
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, found {shown}")
    return value, "triple", []


def edge(value: Mapping[str, Any]) -> tuple[Object, str, list[str]]:
    """Return an edge as a triple; it is `related to` where nothing names its relation."""
    names = list(value)
    columns = edge_columns(names)
    if columns is None:
        raise ValueError("no source and target")
    relation = None if columns.relation is None else value[names[columns.relation]]
    relation = RELATED if relation in (None, "") else plain(relation)
    head, tail = (plain(value[names[column]]) for column in (columns.head, columns.tail))
    others = {name: value[name] for k, name in enumerate(names) if k not in columns.used}
    row: Object = {**others, "head": head, "relation": relation, "tail": tail}
    if columns.split is not None:
        row["split"] = value[names[columns.split]]
    parts = {"head": columns.head, "relation": columns.relation, "tail": columns.tail}
    return (
        row,
        "triple",
        _notes({c: k for c, k in parts.items() if k is not None}, names, "triples"),
    )


def entity(value: Mapping[str, Any]) -> tuple[Object, str, list[str]]:
    """Return a node as an entity."""
    names = list(value)
    places = entity_columns(names, of="entity")
    ours = {position: column for column, position in places.items()}
    row: Object = {}
    for position, name in enumerate(names):
        cell, column = value[name], ours.get(position, name)
        if column in ("id", "label", "description") and name != column:
            cell = plain(cell)
        if column == "id":
            cell = plain(cell)
        if column in ("aliases", "types") and name != column:
            cell = texts(cell)
        row[column] = cell
    return row, "entity", _notes(places, names, "entities")


def _notes(places: Mapping[str, int], names: list[str], kind: str) -> list[str]:
    return [
        f"field {names[position]!r} of {kind} read as {column}"
        for column, position in places.items()
        if names[position] != column
    ]


def _apoc_node(value: Object, properties: Object) -> tuple[Object, str, list[str]]:
    others = {name: v for name, v in properties.items() if name not in ("id", "types")}
    row, _, notes = entity(others)
    row = {**row, "id": plain(value.get("id")), "types": texts(value.get("labels"))}
    return row, "entity", notes


def _apoc(value: Object) -> tuple[Object, str, list[str]]:
    """Return a node or relationship of an export by Neo4j's APOC."""
    properties = value["properties"]
    if not isinstance(properties, dict):
        raise ValueError("properties must be an object")
    if value["type"] == "node":
        return _apoc_node(value, properties)
    ends = (value.get("start"), value.get("end"))
    head, tail = (plain(end.get("id")) if isinstance(end, dict) else None for end in ends)
    others = {name: v for name, v in properties.items() if name not in (*PARTS, "split", "kind")}
    relation = plain(value.get("label")) or RELATED
    return {"head": head, "relation": relation, "tail": tail, **others}, "triple", []


def plain(value: object) -> Any:  # noqa: ANN401
    """Return a number as text, and anything else as it is.

    >>> plain(7), plain("7"), plain(None)
    ('7', '7', None)
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return json.dumps(value) if number else value


def texts(value: object) -> object:
    """Return a list of texts from a list, or from texts joined by `|`; nothing for null.

    >>> texts("a|b"), texts(["a", 1]), texts(None)
    (['a', 'b'], ['a', '1'], [])
    """
    if value is None:
        return []
    if isinstance(value, list):
        return [plain(item) for item in value]
    value = plain(value)
    return [item for item in value.split("|") if item] if isinstance(value, str) else value


def relation_of(values: Mapping[str, str], label: str = "") -> tuple[str, str]:
    """Return the relation of an edge and the name of the value that says it, if one does.

    >>> relation_of({"weight": "3", "Type": "knows"}), relation_of({}, "likes"), relation_of({})
    (('knows', 'Type'), ('likes', ''), ('related to', ''))
    """
    plain_names = {plain_name(name): name for name in values}
    for column in RELATIONS:
        name = plain_names.get(column)
        if (
            column != "name"
            and name is not None
            and values[name]
            and values[name].casefold() not in DIRECTIONS
        ):
            return values[name], name
    return label or RELATED, ""
