"""kgraft's own JSON Lines: one entity, relation, triple or literal per line.

    {"kind": "entity", "id": "Q64", "label": "Berlin", "aliases": ["Berlin, Germany"]}
    {"kind": "relation", "id": "P17", "label": "country"}
    {"kind": "triple", "head": "Q64", "relation": "P17", "tail": "Q183", "split": "train"}
    {"kind": "literal", "entity": "Q64", "property": "P2044", "value": 34}

The fields of a literal are the columns of `literal_rows`; a number or a boolean needs no datatype.
`kind` may be left out of the others: a line with head, relation and tail is a triple, any other an
entity. Lines of other programs may use other names, as in
`{"source": 1, "target": 2, "type": "knows"}` or `{"id": 1, "name": "Ann"}`, or be an export of
Neo4j's APOC.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    PARTS,
    RELATION_SCHEMA,
    SPLITS,
    Batch,
    Refusals,
    Split,
)
from kgraft.graph.io.foreign import translate
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.json_objects import JSON_SUFFIXES, json_kind, json_object
from kgraft.graph.io.lines import numbered_lines
from kgraft.graph.io.options import TableOptions
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.literal_rows import COLUMNS as LITERAL_COLUMNS
from kgraft.graph.io.tables.row_batches import LiteralRows, TableRows, TripleRows
from kgraft.graph.literals import lexical
from kgraft.progress import Progress
from kgraft.streams import plain_suffix

COLUMNS = {"entity": ENTITY_SCHEMA.names, "relation": RELATION_SCHEMA.names}
KEYS_OF_LITERAL = {"kind", *LITERAL_COLUMNS}
FIELDS_OF_TRIPLE = {"kind", "split", *PARTS}
SUFFIXES = (".jsonl", ".ndjson")
LARGEST_COUNT = (1 << 63) - 1

Object = dict[str, Any]
Line = tuple[int, str, Object, str]  # number, text, object, kind


class JsonlSource:
    """A .jsonl file, plain or packed, or a folder of them.

    Read twice: entities and relations first, then triples and values.
    """

    format = "jsonl"
    types_are_ids = False

    def __init__(self, path: str | Path, options: TableOptions | None = None) -> None:
        self.path = Path(path)
        self.files = jsonl_files(self.path) if self.path.is_dir() else [self.path]
        self.unknown: Literal["refuse", "add", "drop"] = (options or TableOptions()).undeclared

    def describe(self) -> str:
        """Return the name of the file or folder."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities and relations in the order of the file, then its triples and values."""
        for path in self.files:
            yield from self._declared(path, refusals, progress)
        for path in self.files:
            yield from self._triples(path, refusals, progress)

    def _declared(self, path: Path, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        file = str(path)
        rows = {"entity": TableRows("entity", file), "relation": TableRows("relation", file)}
        for line, text, value, kind in _lines(path, refusals, progress, part="entities"):
            if kind not in COLUMNS:
                continue
            try:
                row = _declaration(value, kind)
            except ValueError as error:
                _refuse(refusals, error, path, line, text)
                continue
            if nested := sum(isinstance(extra, dict | list) for extra in _extras(value, kind)):
                refusals.leave_out("nested fields of entities and relations", nested)
            rows[kind].add(row, line)
            if rows[kind].full:
                yield from rows[kind].take()
        for gathered in rows.values():
            yield from gathered.take()

    def _triples(self, path: Path, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        rows = {split: TripleRows(str(path), split) for split in SPLITS}
        literals = LiteralRows(str(path))
        refused_before = Refusals(skip=True)
        for line, text, value, kind in _lines(path, refused_before, progress, part="triples"):
            if kind == "literal":
                _add_literal(literals, path, line, text, value, refusals)
                if literals.full:
                    yield from literals.take(refusals)
            if kind != "triple":
                continue
            try:
                triple, split = _triple(value)
            except ValueError as error:
                _refuse(refusals, error, path, line, text)
                continue
            if extras := len(value.keys() - FIELDS_OF_TRIPLE):
                refusals.leave_out("other fields of triples", extras)
            rows[split].add(triple, line)
            if rows[split].full:
                yield from rows[split].take()
        for gathered in rows.values():
            yield from gathered.take()
        yield from literals.take(refusals)


def _add_literal(
    rows: LiteralRows, path: Path, line: int, text: str, value: Object, refusals: Refusals
) -> None:
    try:
        row = _literal(value)
    except ValueError as error:
        _refuse(refusals, error, path, line, text)
        return
    if extras := len(value.keys() - KEYS_OF_LITERAL):
        refusals.leave_out("other fields of literals", extras)
    rows.add(row, line)


def jsonl_files(folder: Path) -> list[Path]:
    """Return the files of JSON Lines of a folder, in the order of their names."""
    files = (file for file in folder.iterdir() if file.is_file())
    return sorted(file for file in files if plain_suffix(file) in SUFFIXES)


def _lines(path: Path, refusals: Refusals, progress: Progress, *, part: str) -> Iterator[Line]:
    title = f"reading {part} of {path.name}"
    for line, text in numbered_lines(path, refusals, progress, title=title):
        if not text or text.isspace():
            continue
        try:
            value, kind, notes = translate(json_object(text))
        except ValueError as error:
            _refuse(refusals, error, path, line, text)
        else:
            for note in notes:
                refusals.note(f"{path.name}: {note}")
            yield line, text, value, kind


def _refuse(refusals: Refusals, error: ValueError, path: Path, line: int, text: str) -> None:
    refusals.refuse("bad JSON", file=str(path), line=line, detail=str(error), text=text)


def _triple(value: Object) -> tuple[list[str], Split]:
    split = value.get("split")
    split = "train" if split is None else split
    if split not in SPLITS:
        raise ValueError(
            f"split must be one of {', '.join(SPLITS)}, found {json.dumps(split)[:40]}"
        )
    return [_id(value, part) for part in PARTS], split


def _literal(value: Object) -> dict[str, str]:
    """Return the columns of a literal; a number or a boolean brings its datatype."""
    names = (name for name in LITERAL_COLUMNS if value.get(name) is not None and name != "value")
    row = {name: _string(name, value[name]) for name in names}
    made = lexical(value.get("value"))
    if made is None:
        raise ValueError(
            f"value must be a text, number or boolean, found {json_kind(value.get('value'))}"
        )
    row["value"] = made[0]
    if made[1]:
        row["datatype"] = row.get("datatype") or made[1]
    return row


def _declaration(value: Object, kind: str) -> Object:
    row: Object = {"id": _id(value, "id")}
    for name, cell in value.items():
        if name in ("id", "kind") or cell is None:
            continue
        if name in COLUMNS[kind]:
            row[name] = _field(name, cell)
        elif not isinstance(cell, (dict, list)):
            row[name] = cell if isinstance(cell, str) else json.dumps(cell)
    counts = row.get("name_counts")
    if kind == "entity" and counts is not None and len(counts) != 1 + len(row.get("aliases", ())):
        raise ValueError("name_counts must have one number for the label and one for each alias")
    return row


def _id(value: Object, name: str) -> str:
    item = value.get(name)
    if item is None or item == "":
        raise ValueError(f"no {name}")
    return _string(name, item)


def _field(name: str, cell: object) -> object:
    if name in ("label", "description"):
        return _string(name, cell)
    if not isinstance(cell, list):
        raise ValueError(f"{name} must be a list, found {json_kind(cell)}")
    return [_count(n) if name == "name_counts" else _string(name, n) for n in cell]


def _string(name: str, cell: object) -> str:
    if not isinstance(cell, str):
        raise ValueError(f"{name} must be a string, found {json_kind(cell)}")
    return cell


def _count(cell: object) -> int:
    if not isinstance(cell, int) or isinstance(cell, bool) or not 0 <= cell <= LARGEST_COUNT:
        raise ValueError("name_counts must be whole numbers of 0 or more")
    return cell


def _extras(value: Object, kind: str) -> Iterator[object]:
    return (cell for name, cell in value.items() if name not in COLUMNS[kind])


def _is_json(path: Path) -> bool:
    if path.is_dir():
        return bool(jsonl_files(path))
    return plain_suffix(path) in JSON_SUFFIXES


FORMATS.register("jsonl")(Format(open=JsonlSource, signs={Sign.FALLBACK: _is_json}))
