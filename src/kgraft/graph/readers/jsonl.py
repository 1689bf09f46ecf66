"""JSON Lines of our own: an entity, a relation or a triple a line.

    {"kind": "entity", "id": "Q64", "label": "Berlin", "aliases": ["Berlin, Germany"]}
    {"kind": "relation", "id": "P17", "label": "country"}
    {"kind": "triple", "head": "Q64", "relation": "P17", "tail": "Q183", "split": "train"}

`kind` may be left out: a line with head, relation and tail is a triple, any other an entity.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    PARTS,
    RELATION_SCHEMA,
    SPLITS,
    Batch,
    Refusals,
    Split,
)
from kgraft.graph.readers.gather import TableRows, TripleRows
from kgraft.graph.readers.objects import json_kind, json_object
from kgraft.graph.readers.stream import numbered_lines
from kgraft.progress import Progress

KINDS = ("entity", "relation", "triple")
COLUMNS = {"entity": ENTITY_SCHEMA.names, "relation": RELATION_SCHEMA.names}
FIELDS_OF_TRIPLE = {"kind", "split", *PARTS}
LARGEST_COUNT = (1 << 63) - 1

Object = dict[str, Any]
Line = tuple[int, str, Object, str]  # number, text, object, kind


class JsonlSource:
    """A .jsonl file, plain or packed; read twice: entities and relations first, then triples."""

    format = "jsonl"
    types_are_ids = False

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        # Once the entities are read: "refuse" where the file declares any, else "add".
        self.unknown: Literal["refuse", "add", "drop"] = "add"

    def describe(self) -> str:
        """Return the name of the file."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities and relations in the order of the file, then its triples."""
        yield from self._declared(refusals, progress)
        yield from self._triples(refusals, progress)

    def _declared(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        file = str(self.path)
        rows = {"entity": TableRows("entity", file), "relation": TableRows("relation", file)}
        declares = False
        for line, text, value, kind in self._lines(refusals, progress, what="entities"):
            if kind == "triple":
                continue
            try:
                rows[kind].add(_declaration(value, kind), line)
            except ValueError as error:
                self._refuse(refusals, error, line, text)
                continue
            declares = declares or kind == "entity"
            if rows[kind].full:
                yield from rows[kind].take()
        self.unknown = "refuse" if declares else "add"
        for gathered in rows.values():
            yield from gathered.take()

    def _triples(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        rows = {split: TripleRows(str(self.path), split) for split in SPLITS}
        refused_before = Refusals(skip=True)
        for line, text, value, kind in self._lines(refused_before, progress, what="triples"):
            if kind != "triple":
                continue
            try:
                triple, split = _triple(value)
            except ValueError as error:
                self._refuse(refusals, error, line, text)
                continue
            if extras := len(value.keys() - FIELDS_OF_TRIPLE):
                refusals.leave_out("other fields of triples", extras)
            rows[split].add(triple, line)
            if rows[split].full:
                yield from rows[split].take()
        for gathered in rows.values():
            yield from gathered.take()

    def _lines(self, refusals: Refusals, progress: Progress, *, what: str) -> Iterator[Line]:
        what = f"reading {what} of {self.path.name}"
        for line, text in numbered_lines(self.path, refusals, progress, what=what):
            if not text or text.isspace():
                continue
            try:
                value = json_object(text)
                kind = _kind(value)
            except ValueError as error:
                self._refuse(refusals, error, line, text)
            else:
                yield line, text, value, kind

    def _refuse(self, refusals: Refusals, error: ValueError, line: int, text: str) -> None:
        refusals.refuse("bad JSON", file=str(self.path), line=line, detail=str(error), text=text)


def _kind(value: Object) -> str:
    if "kind" not in value:
        return "triple" if all(part in value for part in PARTS) else "entity"
    if value["kind"] not in KINDS:
        shown = json.dumps(value["kind"])[:40]
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, found {shown}")
    return cast(str, value["kind"])


def _triple(value: Object) -> tuple[list[str], Split]:
    split = value.get("split")
    split = "train" if split is None else split
    if split not in SPLITS:
        raise ValueError(
            f"split must be one of {', '.join(SPLITS)}, found {json.dumps(split)[:40]}"
        )
    return [_id(value, part) for part in PARTS], split


def _declaration(value: Object, kind: str) -> Object:
    row: Object = {"id": _id(value, "id")}
    for name, found in value.items():
        if name in ("id", "kind") or found is None:
            continue
        row[name] = _field(name, found) if name in COLUMNS[kind] else _extra(name, found)
    counts = row.get("name_counts")
    if kind == "entity" and counts is not None and len(counts) != 1 + len(row.get("aliases", ())):
        raise ValueError("name_counts must have one number for the label and one for each alias")
    return row


def _id(value: Object, name: str) -> str:
    found = value.get(name)
    if found is None or found == "":
        raise ValueError(f"no {name}")
    return _string(name, found)


def _field(name: str, found: object) -> object:
    if name in ("label", "description"):
        return _string(name, found)
    if not isinstance(found, list):
        raise ValueError(f"{name} must be a list, found {json_kind(found)}")
    return [_count(n) if name == "name_counts" else _string(name, n) for n in found]


def _string(name: str, found: object) -> str:
    if not isinstance(found, str):
        raise ValueError(f"{name} must be a string, found {json_kind(found)}")
    return found


def _count(found: object) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= LARGEST_COUNT:
        raise ValueError("name_counts must be whole numbers of 0 or more")
    return found


def _extra(name: str, found: object) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, (list, dict)):
        raise ValueError(f"{name} is {json_kind(found)}; an extra field must be a string or number")
    return json.dumps(found)
