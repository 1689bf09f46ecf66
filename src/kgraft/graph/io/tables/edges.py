"""Rows of an edge list as triples: which columns are the parts, whether the first row names them.

A first row with known names (`source,target,type`, `:START_ID,:END_ID`, …) is a header. A row of
two or three cells is a triple where the rows below it look like it; where that is not clear, the
user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.errors import BadInput
from kgraft.graph.batches import SPLITS, Origin, Refusals, Split, Triples
from kgraft.graph.io.options import TableOptions
from kgraft.graph.io.tables.column_names import (
    EDGE_ROLES,
    RELATED,
    EdgeColumns,
    direction_column,
    edge_columns,
    named_edges,
    named_places,
)

FEW = 50  # rows from which on a column of relations must repeat itself
_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_WORDS = re.compile(r"[^\W\d][\w .#:@()-]{0,40}")


class EdgeRows:
    """Turns blocks of columns of strings into triples."""

    def __init__(
        self, columns: EdgeColumns, names: Sequence[str], file: str, refusals: Refusals
    ) -> None:
        self.columns, self.file, self.refusals = columns, file, refusals
        self.others = {k: name for k, name in enumerate(names) if k not in columns.used}

    @property
    def _has_only_triples(self) -> bool:
        at = self.columns
        return at.split is None and at.direction is None and not self.others

    def triples(
        self, columns: Sequence[pa.Array], lines: np.ndarray, split: Split = "train"
    ) -> Iterator[Triples]:
        """Yield the triples of a block; an undirected edge holds both ways."""
        at = self.columns
        ends = [columns[at.head], columns[at.tail]]
        relation = self._relation(columns, len(lines))
        bad = _empty([*ends, relation])
        if self._has_only_triples and not bad.any():
            yield Triples(ends[0], relation, ends[1], self._origin(lines), split)
            return
        splits = self._splits(columns, len(lines), split)
        self._refuse_rows(columns, bad, splits, lines)
        self._count_others(columns)
        both = self._undirected(columns, ends)
        for name in SPLITS:
            rows = np.flatnonzero(~bad & numbers(pc.equal(splits, name)))
            if len(rows):
                order = np.concatenate([rows, rows[both[rows]]])
                parts = _both_ways(ends, relation, order, len(rows))
                yield Triples(*parts, self._origin(lines[order]), name)

    def _relation(self, columns: Sequence[pa.Array], rows: int) -> pa.Array:
        position = self.columns.relation
        if position is None:
            return pa.array([RELATED] * rows, pa.string())
        relation = columns[position]
        if not self.columns.optional:
            return relation
        return pc.if_else(pa.array(_empty([relation])), RELATED, relation)

    def _origin(self, lines: np.ndarray) -> Origin:
        return Origin(self.file, lines)

    def _splits(self, columns: Sequence[pa.Array], rows: int, split: Split) -> pa.Array:
        if self.columns.split is None:
            return pa.array([split] * rows, pa.string())
        return pc.fill_null(columns[self.columns.split], split)

    def _undirected(self, columns: Sequence[pa.Array], ends: list[pa.Array]) -> np.ndarray:
        if self.columns.direction is None:
            return np.zeros(len(ends[0]), bool)
        kind = pc.utf8_lower(pc.utf8_trim_whitespace(columns[self.columns.direction]))
        both = _among(kind, ("undirected", "mutual"))
        return both & ~numbers(pc.fill_null(pc.equal(*ends), False))

    def _count_others(self, columns: Sequence[pa.Array]) -> None:
        for position, name in self.others.items():
            column = columns[position]
            text = pa.types.is_string(column.type)
            filled = int((~_empty([column])).sum()) if text else len(column) - column.null_count
            if filled:
                reason = f"values of the column {name!r}" if name else "values of other columns"
                self.refusals.leave_out(f"{reason} of triples", filled)

    def _refuse_rows(
        self, columns: Sequence[pa.Array], bad: np.ndarray, splits: pa.Array, lines: np.ndarray
    ) -> None:
        """Refuse the rows that are bad for an empty part, and those of an unknown split."""
        odd = ~_among(splits, SPLITS)
        for row in np.flatnonzero(bad | odd).tolist():
            self._refuse(columns, row, int(lines[row]), splits if not bad[row] else None)

    def _refuse(
        self, columns: Sequence[pa.Array], row: int, line: int, splits: pa.Array | None
    ) -> None:
        self.refusals.refuse(
            "empty field" if splits is None else "unknown split",
            file=self.file,
            line=line,
            detail="" if splits is None else repr(splits[row].as_py()),
            text="\t".join(str(column[row].as_py()) for column in columns),
        )


def _both_ways(
    ends: list[pa.Array], relation: pa.Array, order: np.ndarray, forward: int
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return head, relation and tail of rows, the ends exchanged behind the first `forward`."""
    inverted = pa.array(np.arange(len(order)) >= forward)
    head, link, tail = (part.take(pa.array(order)) for part in (ends[0], relation, ends[1]))
    return pc.if_else(inverted, tail, head), link, pc.if_else(inverted, head, tail)


def _is_doubtful(columns: EdgeColumns | None, names: Sequence[str]) -> bool:
    """Whether names of columns may be those of a triple's parts by chance."""
    return columns is None or columns.relation is None or len(names[columns.head]) < 2


def find_edges(
    names: Sequence[str],
    sample: Sequence[pa.Array],
    options: TableOptions,
    file: Path,
    refusals: Refusals,
    *,
    trusted: bool = False,
) -> tuple[EdgeColumns, bool] | None:
    """Return the columns of an edge list and whether the first row names them.

    None where the first row may be the header of something else. The sample begins with that row.
    A trusted file holds triples, so that three columns need names that are beyond doubt.
    """
    named = options.columns_of(EDGE_ROLES)
    if named:
        columns = named_edges(named_places(named, names, str(file)), str(file))
        header = _has_header(names, sample, named, columns, options, file)
    else:
        by_names = None if options.header is False else edge_columns(names)
        if trusted and _is_doubtful(by_names, names) and options.header is None and len(names) == 3:
            return EdgeColumns(0, 2, 1), False
        if by_names is None:
            return _without_header(names, sample, options)
        columns, header = by_names, True
    if not header:
        return columns, False
    if columns.relation is not None and not named:
        values = pc.unique(sample[columns.relation].slice(1))
        columns = direction_column(columns, names, pc.fill_null(values, "").to_pylist())
    for text in columns.notes(names, file.name):
        refusals.note(text)
    return columns, True


def _without_header(
    names: Sequence[str], sample: Sequence[pa.Array], options: TableOptions
) -> tuple[EdgeColumns, bool] | None:
    """Return the columns of rows whose first one is a triple, if it is one.

    NetworkX writes the attributes of an edge behind its ends, as in `a b {'weight': 3}`.
    """
    if options.header is None and len(names) > 2 and _starts(sample[2], "{"):
        return (EdgeColumns(0, 1), False) if _is_data(sample[:2]) else None
    if options.header or len(names) not in (2, 3):
        return None
    if options.header is None and not _is_data(sample):
        return None
    return EdgeColumns(0, len(names) - 1, 1 if len(names) == 3 else None), False


def _has_header(
    names: Sequence[str],
    sample: Sequence[pa.Array],
    named: Mapping[str, str],
    columns: EdgeColumns,
    options: TableOptions,
    file: Path,
) -> bool:
    """Whether the first row is a header: so where the user named a column by its name."""
    if options.header is not None:
        return options.header
    by_name = any(not value.isdecimal() for value in named.values())
    if by_name or edge_columns(names) is not None:
        return True
    cells = [pc.fill_null(column, "") for column in sample]
    ends = [cells[columns.head], cells[columns.tail]]
    first = [column[0].as_py() for column in ends]
    if all(map(is_numeric, ends)) or _repeats(first, [c.slice(1) for c in ends], (0, 1)):
        return False
    raise ask_for_header(names, file)


def ask_for_header(names: Sequence[str], file: Path) -> BadInput:
    """Return the error for a first row that may be a header or not."""
    reason = f"it is not clear whether the first row is a header: {_shown(names)}"
    remedy = "say --header (it names the columns) or --no-header (it is a triple)"
    return BadInput(reason, file=str(file), line=1, remedy=remedy)


def ask_for_columns(names: Sequence[str], sample: Sequence[pa.Array], file: Path) -> BadInput:
    """Return the error that says what to do about columns that cannot be understood."""
    three = "head=1,relation=2,tail=3"
    if len(names) not in (2, 3):
        reason = f"no columns of triples are known among: {_shown(names)}"
        remedy = "name them: --columns head=…,relation=…,tail=…, or id=…,label=… for entities"
    elif len(names) == 3 and is_numeric(sample[2].slice(1)):
        reason = f"it is not clear what the columns mean: {_shown(names)}"
        remedy = f"say --columns head=1,tail=2 (the third is a weight), or {three}"
    else:
        roles = "head=1,tail=2" if len(names) == 2 else three
        reason = f"it is not clear whether the first row is a header: {_shown(names)}"
        remedy = f"say --no-header (it is a triple), or --header --columns {roles}"
    return BadInput(reason, file=str(file), line=1, remedy=remedy)


def _shown(names: Sequence[str]) -> str:
    return " ".join(" | ".join(names).split())[:200]


def _is_data(sample: Sequence[pa.Array]) -> bool:
    """Whether the first row of two or three columns without known names is a triple itself."""
    columns = [pc.fill_null(column, "") for column in sample]
    rows = len(columns[0])
    first, below = [c[0].as_py() for c in columns], [c.slice(1) for c in columns]
    if not all(first):
        return False
    if len(columns) == 2:
        ends = pc.is_in(columns[0], pc.unique(columns[1]))
        return rows > 1 and bool(pc.any(ends).as_py()) and _repeats(first, below, (0, 1))
    if rows >= FEW and len(pc.unique(columns[1])) > rows / 2:
        return False
    return _is_triple(first, below)


def _is_triple(first: list[str], below: list[pa.Array]) -> bool:
    """Whether the first of rows of three columns is like those below, and no names of columns."""
    if is_numeric(below[2]) or (is_numeric(below[0]) and is_numeric(below[1])):
        return False  # weights or measurements: a triple of such numbers must be named
    odd = sum(_WORDS.fullmatch(cell) is None for cell in first)
    return not len(below[0]) or odd > 1 or _repeats(first, below, (0, 1, 2))


def _repeats(first: list[str], below: list[pa.Array], places: Sequence[int]) -> bool:
    """Whether a cell of the first row stands below it again, an end also in the other column."""
    ends = pa.chunked_array([below[0], below[-1]])
    for position in places:
        column = below[position] if len(first) == 3 and position == 1 else ends
        if pc.any(pc.equal(column, first[position])).as_py():
            return True
    return False


def _starts(column: pa.Array, mark: str) -> bool:
    return bool(pc.all(pc.fill_null(pc.starts_with(column, mark), False)).as_py())


def is_numeric(column: pa.Array) -> bool:
    """Whether every cell of a column is a number."""
    return len(column) > 0 and bool(pc.all(pc.match_substring_regex(column, _NUMBER)).as_py())


def _empty(columns: Sequence[pa.Array]) -> np.ndarray:
    empty = np.zeros(len(columns[0]), bool)
    for column in columns:
        equal = pc.equal(column, "")
        empty |= numbers(pc.fill_null(equal, True) if equal.null_count else equal)
    return empty


def _among(column: pa.Array, values: Sequence[str]) -> np.ndarray:
    return numbers(pc.fill_null(pc.is_in(column, pa.array(values)), False))
