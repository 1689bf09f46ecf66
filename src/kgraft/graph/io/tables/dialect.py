"""How a delimited file is written: its delimiter, its quotes, the comments before its header."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from kgraft.progress import Silent
from kgraft.streams import BOM, open_bytes, plain_suffix

SAMPLE = 1 << 16  # bytes that are looked at
LINES = 100  # lines that are looked at
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Dialect:
    """A delimiter, whether cells may be quoted, and how many lines of comments come first."""

    delimiter: str
    quoted: bool
    skip: int = 0
    spaced: bool = False  # whether a space follows every delimiter, or is one


TSV = Dialect("\t", quoted=False)


def sniff_file(path: Path) -> Dialect:
    """Return the dialect of a file by its suffix and its first lines."""
    with open_bytes(path, Silent()) as stream:
        sample = stream.read(SAMPLE)
    text = sample.removeprefix(BOM).decode("utf-8", errors="replace")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if len(sample) == SAMPLE and len(lines) > 1:
        lines.pop()  # cut in the middle, most likely
    return sniff(lines, comma=plain_suffix(path) == ".csv")


def sniff(lines: list[str], *, comma: bool) -> Dialect:
    """Return the dialect of some lines; `comma` says that a comma is the likely delimiter.

    >>> sniff(["a;b,c;d", "e;f;g"], comma=True).delimiter
    ';'
    >>> sniff(["# a comment", "a b", "c d"], comma=False)
    Dialect(delimiter=' ', quoted=True, skip=1, spaced=True)
    """
    plain = _dialect(_filled(lines), comma=comma)
    skip = _comments(lines, plain)
    if skip:
        plain = _dialect(_filled(lines[skip:]), comma=comma)
    return replace(plain, skip=skip)


def _filled(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip()][:LINES]


def _comments(lines: list[str], dialect: Dialect) -> int:
    """Return how many lines of comments stand before the rows.

    A line that begins with # may be a header or a row: if it is as wide as the first other line.
    """
    rows = (k for k, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    count = next(rows, 0)
    if not any(line.startswith("#") for line in lines[:count]):
        return 0
    dialect = _dialect(_filled(lines[count:]), comma=dialect.delimiter == ",")
    widths = [sum(_widths([line], dialect.delimiter)) for line in lines[: count + 1]]
    while count and widths[count - 1] == widths[-1]:
        if not lines[count - 1].rstrip(dialect.delimiter).count(dialect.delimiter):
            break  # a comment that a spreadsheet filled up with empty cells
        count -= 1
    return count


def _dialect(lines: list[str], *, comma: bool) -> Dialect:
    if not lines:
        return Dialect(",", quoted=True) if comma else TSV
    if not comma and any("\t" in line for line in lines):
        first = lines[0].split("\t")
        every = all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in first)
        return Dialect("\t", quoted=every and len(first) > 1)
    ranked = [(_regularity(lines, mark), -k, mark) for k, mark in enumerate(DELIMITERS)]
    (share, width), _, mark = max(ranked)
    if comma:
        return _quoted(mark if width > 1 else ",", lines)
    if width > 1 and share > 0.9:
        return _quoted(mark, lines)
    widths = {len(line.split()) for line in lines}
    if len(widths) == 1 and widths.pop() > 1:
        return Dialect(" ", quoted=True, spaced=True)
    return TSV


def _quoted(mark: str, lines: list[str]) -> Dialect:
    spaced = all(line.count(mark) == line.count(mark + " ") > 0 for line in lines)
    return Dialect(mark, quoted=True, spaced=spaced)


def _regularity(lines: list[str], delimiter: str) -> tuple[float, int]:
    """Return the share of rows that are as wide as the first one, and that width."""
    widths = _widths(lines, delimiter)
    if not widths or widths[0] < 2:
        return 0.0, 0
    return round(sum(width == widths[0] for width in widths) / len(widths), 1), widths[0]


def _widths(lines: list[str], delimiter: str) -> list[int]:
    marked = (line + "\n" for line in lines)
    loose = delimiter == " "
    try:
        rows = csv.reader(marked, delimiter=delimiter, skipinitialspace=loose)
        return [len(row) for row in rows if row]
    except csv.Error:
        return [1]
