"""Delimited files as blocks of columns, every row with its line number."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.graph.batches import ROWS, Refusals
from kgraft.graph.io.lines import numbered_lines, refuse_encoding
from kgraft.graph.io.tables.dialect import Dialect, sniff_file
from kgraft.progress import Progress
from kgraft.streams import BOM, open_bytes

BLOCK = 1 << 23  # bytes of a TSV file cut into rows at a time
SAMPLE_ROWS = 10_000  # rows that are looked at to tell what the columns hold
LONGEST = 1 << 26  # characters of a CSV cell; a quote that is never closed must end somewhere


@dataclass(frozen=True)
class Cells:
    """Rows as lists of strings, which may differ in length, and the line of each."""

    rows: pa.ListArray
    lines: np.ndarray  # (rows,) int64

    def take(self, keep: np.ndarray) -> Cells:
        """Return the rows of a mask."""
        return Cells(self.rows.filter(pa.array(keep)), self.lines[keep])


@dataclass(frozen=True)
class Columns:
    """Rows of equal length, by column."""

    columns: list[pa.Array]
    lines: np.ndarray

    def text(self, row: int) -> str:
        """Return one row as text, for a report."""
        return "\t".join(str(column[row]) for column in self.columns)


class RowFile:
    """Rows of a file or a sheet, from blocks of cells."""

    quoted: bool  # whether cells are as they are meant, without escapes

    def __init__(self, path: Path, refusals: Refusals) -> None:
        self.path, self.refusals = path, refusals

    def _start(self, blocks: Iterator[Cells]) -> None:
        self._blocks = _filled(blocks)
        self._first = next(self._blocks, None)

    @property
    def sample(self) -> list[pa.Array]:
        """The first rows as columns, without those of another width than the first."""
        if self._first is None:
            return []
        rows = self._first.rows.slice(0, SAMPLE_ROWS)
        width = len(rows[0])
        same = rows.filter(pc.equal(pc.list_value_length(rows), width))
        return [pc.list_element(same, k) for k in range(width)]

    @property
    def first(self) -> list[str] | None:
        """The cells of the first row, or None for an empty file."""
        return None if self._first is None else self._first.rows[0].as_py()

    def columns(self, *, header: bool) -> Iterator[Columns]:
        """Yield the rows block by block; one of another width than the first row is refused."""
        if self._first is None:
            return
        width = len(self._first.rows[0])
        skip = np.arange(len(self._first.lines)) >= int(header)
        yield self._columns(self._first.take(skip), width)
        for cells in self._blocks:
            yield self._columns(cells, width)

    def _columns(self, cells: Cells, width: int) -> Columns:
        sizes = numbers(pc.list_value_length(cells.rows))
        good = sizes == width
        for row in np.flatnonzero(~good):
            self.refusals.refuse(
                "wrong number of columns",
                file=str(self.path),
                line=int(cells.lines[row]),
                detail=f"{sizes[row]} instead of {width}",
                text="\t".join(cells.rows[int(row)].as_py()),
            )
        kept = cells if good.all() else cells.take(good)
        flat = kept.rows.flatten()
        places = np.arange(len(kept.lines)) * width
        return Columns([flat.take(pa.array(places + k)) for k in range(width)], kept.lines)


class DelimitedFile(RowFile):
    """One file of columns, plain or packed: quoted, or with tabs and no quotes (TSV)."""

    def __init__(self, path: Path, refusals: Refusals, progress: Progress) -> None:
        super().__init__(path, refusals)
        self.dialect = sniff_file(path)
        self.quoted = self.dialect.quoted
        if self.quoted:
            self._start(_csv_cells(path, self.dialect, refusals, progress))
        else:
            self._start(_tsv_cells(path, self.dialect.skip, refusals, progress))


def _filled(blocks: Iterator[Cells]) -> Iterator[Cells]:
    return (cells for cells in blocks if len(cells.lines))


def _tsv_cells(path: Path, skip: int, refusals: Refusals, progress: Progress) -> Iterator[Cells]:
    line = 1 + skip
    with open_bytes(path, progress, lines=True) as stream:
        rest = stream.read(len(BOM)).removeprefix(BOM)
        for _ in range(skip):
            stream.readline()
            rest = b""
        while block := stream.read(BLOCK):
            block = rest + block
            cut = block.rfind(b"\n") + 1
            rest = block[cut:]
            if cut:
                yield _split_block(block[:cut], line, path, refusals)
                line += block.count(b"\n")
        if rest:
            yield _split_block(rest, line, path, refusals)


def _split_block(block: bytes, line: int, path: Path, refusals: Refusals) -> Cells:
    """Cut whole lines, of which the first has number `line`, into cells."""
    try:
        block.decode()
    except UnicodeDecodeError:
        block = _blank_bad_lines(block, line, path, refusals)
    bounds = pa.py_buffer(np.array([0, len(block)], np.int32))
    text = pa.StringArray.from_buffers(1, bounds, pa.py_buffer(block))
    lines = pc.split_pattern(text, "\n").flatten()
    if b"\r" in block:
        lines = pc.replace_substring_regex(lines, "\r$", "")
    filled = numbers(pc.not_equal(lines, ""))
    rows = pc.split_pattern(lines.filter(pa.array(filled)), "\t")
    return Cells(rows, line + np.flatnonzero(filled))


def _blank_bad_lines(block: bytes, line: int, path: Path, refusals: Refusals) -> bytes:
    """Refuse the lines that are no UTF-8 and leave empty ones in their place."""
    lines = block.split(b"\n")
    for number, raw in enumerate(lines):
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            refuse_encoding(raw, error, refusals, file=str(path), line=line + number)
            lines[number] = b""
    return b"\n".join(lines)


def _csv_cells(
    path: Path, dialect: Dialect, refusals: Refusals, progress: Progress
) -> Iterator[Cells]:
    rows = _numbered_rows(path, dialect, refusals, progress)
    while block := _with_long_cells(rows):
        yield cells_of([row for _, row in block], [line for line, _ in block])


def _numbered_rows(
    path: Path, dialect: Dialect, refusals: Refusals, progress: Progress
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a CSV file with the line it begins in; what is not CSV is refused."""
    taken: list[tuple[int, str]] = []  # the lines of the row that is being read
    lines = islice(numbered_lines(path, refusals, progress), dialect.skip, None)
    trim = str.strip if dialect.delimiter == " " else str

    def texts() -> Iterator[str]:
        for number, text in lines:
            taken.append((number, text))
            yield trim(text) + "\n"

    reader = csv.reader(
        texts(), strict=True, delimiter=dialect.delimiter, skipinitialspace=dialect.spaced
    )
    while True:
        taken.clear()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            text = "\n".join(text for _, text in taken)
            line = taken[0][0]
            refusals.refuse("not CSV", file=str(path), line=line, detail=str(error), text=text)
        else:
            if row:
                yield taken[0][0], row


def _with_long_cells(rows: Iterator[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Read a block of rows; the limit on cells is one for all of Python, so it is put back."""
    before = csv.field_size_limit(LONGEST)
    try:
        return list(islice(rows, ROWS))
    finally:
        csv.field_size_limit(before)


def cells_of(rows: list[list[str]], lines: list[int]) -> Cells:
    """Return rows with their line numbers as a block."""
    return Cells(pa.array(rows, pa.list_(pa.string())), np.array(lines, np.int64))
