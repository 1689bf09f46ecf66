r"""Folders of TSV or CSV files: entities, relations, and triples in train, valid, test or triples.

A TSV file has a header line, tabs between the columns and no quotes; items of a list are joined by
`|`. A character that the format cannot hold is written by its number: `\u007C`; `\"` is a quote. A
CSV file is quoted as usual. A file of triples may lack its header, as FB15k's `train.txt` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.errors import BadInput
from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    PARTS,
    RELATION_SCHEMA,
    Batch,
    Entities,
    Origin,
    Refusals,
    Relations,
    Split,
    Triples,
)
from kgraft.graph.columns import list_rows, lists_from_rows, numbers
from kgraft.graph.readers.delimited import Columns, DelimitedFile
from kgraft.graph.readers.stream import PACKERS
from kgraft.progress import Progress

LISTS = ("aliases", "types")
_SYNONYMS = {"alias": "aliases", "type": "types"}
_PART_SYNONYMS = {"subject": "head", "predicate": "relation", "object": "tail"}
TRIPLE_FILES: dict[str, Split] = {
    "train": "train",
    "triples": "train",
    "valid": "valid",
    "dev": "valid",
    "test": "test",
}
SUFFIXES = (".tsv", ".txt", ".csv")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})|\")")


def unescape(text: str) -> str:
    r"""Resolve escaped characters and quotes; any other backslash stays.

    >>> unescape(r"Compi\u00E8gne \"x\" C:\new")
    'Compiègne "x" C:\\new'
    """
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2]
    if not digits:
        return '"'
    point = int(digits, 16)
    return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)


class TsvSource:
    """A folder of TSV or CSV files, or one file of triples."""

    format = "tsv"
    types_are_ids = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = triple_files(path) if path.is_dir() else {"triples": path}
        declared = "entities" in self.files
        self.unknown: Literal["refuse", "add", "drop"] = "refuse" if declared else "add"
        if not set(TRIPLE_FILES) & set(self.files):
            remedy = "add train.tsv or triples.tsv (head, relation, tail)"
            raise BadInput("no file of triples in this folder", file=str(path), remedy=remedy)

    def describe(self) -> str:
        """Return the folder's name."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities, relations, then the triples of each file."""
        for name, path in self.files.items():
            file = DelimitedFile(path, refusals, progress)
            if name == "entities":
                yield from (Entities(*batch) for batch in _tables(file, ENTITY_SCHEMA))
            elif name == "relations":
                yield from (Relations(*batch) for batch in _tables(file, RELATION_SCHEMA))
            else:
                yield from _triples(file, TRIPLE_FILES[name])


def triple_files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that hold a graph, by their role, in the order to read them."""
    found: dict[str, Path] = {}
    for name in ("entities", "relations", *TRIPLE_FILES):
        for suffix in (s + packer for s in SUFFIXES for packer in ("", *PACKERS)):
            candidate = folder / f"{name}{suffix}"
            if candidate.is_file():
                found.setdefault(name, candidate)
    return found


def _tables(file: DelimitedFile, schema: pa.Schema) -> Iterator[tuple[pa.Table, Origin]]:
    """Yield the rows of entities.tsv or relations.tsv as tables with typed columns."""
    header = _header(file)
    if not header:
        raise BadInput("the file is empty", file=str(file.path), remedy="give it a header line")
    if header.count("id") != 1 or len(set(header)) < len(header):
        raise _bad_header(file, "a column named id, and every name once")
    for block in file.columns(header=True):
        if "name_counts" in header and "name_counts" in schema.names:
            block = _without_bad_counts(file, block, header.index("name_counts"))
        columns = {
            name: _typed(file, name, column) if name in schema.names else _text(file, column)
            for name, column in zip(header, block.columns, strict=True)
        }
        yield pa.table(columns), Origin(str(file.path), block.lines)


def _header(file: DelimitedFile) -> list[str]:
    names = file.first or []
    plain = names if file.quoted else [unescape(name) for name in names]
    return [_SYNONYMS[n] if n in _SYNONYMS and _SYNONYMS[n] not in plain else n for n in plain]


def _triples(file: DelimitedFile, split: Split) -> Iterator[Triples]:
    if file.first is None:
        return
    header = [_PART_SYNONYMS.get(name.lower(), name.lower()) for name in file.first]
    named = set(PARTS) <= set(header)
    if not named and len(header) != len(PARTS):
        raise _bad_header(file, "the columns head, relation and tail")
    places = [header.index(part) if named else k for k, part in enumerate(PARTS)]
    for block in file.columns(header=named):
        block = _without_empty(file, Columns([block.columns[p] for p in places], block.lines))
        head, relation, tail = (_text(file, column) for column in block.columns)
        yield Triples(head, relation, tail, Origin(str(file.path), block.lines), split)


def _without_empty(file: DelimitedFile, block: Columns) -> Columns:
    """Refuse the triples that lack a part."""
    empty = np.zeros(len(block.lines), bool)
    for column in block.columns:
        empty |= numbers(pc.equal(column, ""))
    return _without(file, block, empty, "empty field")


def _without_bad_counts(file: DelimitedFile, block: Columns, place: int) -> Columns:
    """Refuse the rows whose name_counts are anything but numbers joined by `|`, or nothing."""
    counts = block.columns[place]
    good = pc.match_substring_regex(counts, r"^([0-9]{1,18}(\|[0-9]{1,18})*)?$")
    bad = ~numbers(good)
    return _without(file, block, bad, "name_counts are no numbers", counts)


def _without(
    file: DelimitedFile, block: Columns, bad: np.ndarray, kind: str, seen: pa.Array | None = None
) -> Columns:
    """Refuse some rows and return the others; `seen` holds what to report of each."""
    for row in np.flatnonzero(bad).tolist():
        file.refusals.refuse(
            kind,
            file=str(file.path),
            line=int(block.lines[row]),
            detail="" if seen is None else repr(seen[row].as_py()[:80]),
            text=block.text(row),
        )
    if not bad.any():
        return block
    keep = pa.array(~bad)
    return Columns([column.filter(keep) for column in block.columns], block.lines[~bad])


def _bad_header(file: DelimitedFile, wanted: str) -> BadInput:
    seen = " ".join(" | ".join(file.first or []).split())[:200]
    remedy = f"it needs {wanted}, separated by {'commas' if file.quoted else 'tabs'}"
    return BadInput(f"the header is: {seen}", file=str(file.path), line=1, remedy=remedy)


def _typed(file: DelimitedFile, name: str, column: pa.Array) -> pa.Array:
    if name in LISTS:
        row, items = _items(column)
        return lists_from_rows(row, _text(file, items), len(column))
    return _counts(column) if name == "name_counts" else _text(file, column)


def _text(file: DelimitedFile, column: pa.Array) -> pa.Array:
    if file.quoted or not pc.any(pc.match_substring(column, "\\")).as_py():
        return column
    escaped = pc.match_substring(column, "\\")
    texts = [unescape(text) for text in column.filter(escaped).to_pylist()]
    return pc.replace_with_mask(column, escaped, pa.array(texts, pa.string()))


def _items(column: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Return row and text of every item that is not empty."""
    row, items = list_rows(pc.split_pattern(column, "|"))
    filled = pc.not_equal(items, "")
    return row[numbers(filled)], items.filter(filled)


def _counts(column: pa.Array) -> pa.Array:
    """Parse numbers joined by `|`; an empty cell means that nothing was counted."""
    row, items = _items(column)
    lists = lists_from_rows(row, items.cast(pa.int64()), len(column))
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, lists.type), lists)
