"""Rows gathered into batches: for readers that meet entities and triples one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    RELATION_SCHEMA,
    ROWS,
    Batch,
    Entities,
    Origin,
    Refusals,
    Relations,
    Split,
    Triples,
)
from kgraft.graph.io.tables.literal_rows import COLUMNS, literal_batches

Row = Mapping[str, object]


class TableRows:
    """Rows of entities or of relations; columns outside the schema are kept as strings."""

    def __init__(self, kind: Literal["entity", "relation"], file: str) -> None:
        self.file = file
        self._schema = ENTITY_SCHEMA if kind == "entity" else RELATION_SCHEMA
        self._batch = Entities if kind == "entity" else Relations
        self._rows: list[Row] = []
        self._lines: list[int] = []

    @property
    def full(self) -> bool:
        """Whether it is time to take a batch."""
        return len(self._rows) >= ROWS

    def add(self, row: Row, line: int) -> None:
        """Take one row in."""
        self._rows.append(row)
        self._lines.append(line)

    def take(self) -> Iterator[Entities | Relations]:
        """Yield what was gathered, if anything, and start again."""
        if not self._rows:
            return
        extras = dict.fromkeys(name for row in self._rows for name in row)
        fields = [
            *self._schema,
            *(pa.field(n, pa.string()) for n in extras if n not in self._schema.names),
        ]
        columns = [pa.array([r.get(f.name) for r in self._rows], f.type) for f in fields]
        table = pa.Table.from_arrays(columns, schema=pa.schema(fields))
        origin = Origin(self.file, np.array(self._lines, np.int64))
        self._rows, self._lines = [], []
        yield self._batch(table, origin)


class TripleRows:
    """Triples of one split."""

    def __init__(self, file: str, split: Split = "train") -> None:
        self.file, self.split = file, split
        self._parts: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._lines: list[int] = []

    @property
    def full(self) -> bool:
        """Whether it is time to take a batch."""
        return len(self._lines) >= ROWS

    def add(self, triple: Sequence[str], line: int) -> None:
        """Take one triple (head, relation, tail) in."""
        for part, value in zip(self._parts, triple, strict=True):
            part.append(value)
        self._lines.append(line)

    def take(self) -> Iterator[Triples]:
        """Yield what was gathered, if anything, and start again."""
        if not self._lines:
            return
        head, relation, tail = (pa.array(part, pa.string()) for part in self._parts)
        origin = Origin(self.file, np.array(self._lines, np.int64))
        self._parts, self._lines = ([], [], []), []
        yield Triples(head, relation, tail, origin, self.split)


class LiteralRows:
    """Values of properties by the columns of `literal_rows`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._rows: list[Mapping[str, str]] = []
        self._lines: list[int] = []

    @property
    def full(self) -> bool:
        """Whether it is time to take a batch."""
        return len(self._rows) >= ROWS

    def add(self, row: Mapping[str, str], line: int) -> None:
        """Take one value in."""
        self._rows.append(row)
        self._lines.append(line)

    def take(self, refusals: Refusals) -> Iterator[Batch]:
        """Yield what was gathered, if anything, and start again; bad rows are refused."""
        if not self._rows:
            return
        columns = {
            name: pa.array([row.get(name) for row in self._rows], pa.string()) for name in COLUMNS
        }
        origin = Origin(self.file, np.array(self._lines, np.int64))
        self._rows, self._lines = [], []
        yield from literal_batches(columns, origin, refusals)
