"""Attributes that arrive one by one, merged into one row per entity or relation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.arrays import run_starts
from kgraft.columns import lists_from_rows, numbers

_PIECE = 1 << 30  # bytes of text in one piece of a column
_LIST_FIELDS = {"alias": "aliases", "type": "types"}


class AttributeRows:
    """Gathers (index of the subject, field, value, rank); see `batches.Attributes`."""

    def __init__(self) -> None:
        self._index: list[np.ndarray] = []
        self._codes: dict[str, int] = {}  # of the names of fields
        self._field: list[np.ndarray] = []
        self._value: list[pa.Array] = []
        self._rank: list[np.ndarray] = []

    def add(self, index: np.ndarray, field: pa.Array, value: pa.Array, rank: np.ndarray) -> None:
        """Take rows in."""
        self._index.append(index)
        names = pc.dictionary_encode(field)
        codes = [self._codes.setdefault(n, len(self._codes)) for n in names.dictionary.to_pylist()]
        self._field.append(np.array(codes, np.int32)[numbers(names.indices)])
        # All values together may be more than the 32-bit offsets of plain strings can count.
        self._value.append(value.cast(pa.large_string()))
        self._rank.append(rank)

    def merge(self, count: int, *, counted: bool = True) -> dict[str, pa.ChunkedArray]:
        """Return the columns that the rows fill, each with `count` rows, null where none came.

        `counted` tells whether name_counts are numbers, as those of entities are.
        """
        if not self._index:
            return {}
        index, rank = np.concatenate(self._index), np.concatenate(self._rank)
        field, values = np.concatenate(self._field), pa.concat_arrays(self._value)
        rows = {name: np.flatnonzero(field == code) for name, code in self._codes.items()}
        if "label" in rows:
            aliases = rows.get("alias", np.zeros(0, np.int64))
            rows["alias"] = _with_other_labels(aliases, rows["label"], index, rank, values)
        columns = {}
        for name, chosen in rows.items():
            if name in _LIST_FIELDS:
                columns[_LIST_FIELDS[name]] = _lists(chosen, index, values, count)
            else:
                columns[name] = _single(_best(chosen, index, rank), index, values, count)
        if counted and "name_counts" in columns:
            columns["name_counts"] = _counts(columns["name_counts"])
        return columns


def _with_other_labels(
    aliases: np.ndarray,
    labels: np.ndarray,
    index: np.ndarray,
    rank: np.ndarray,
    values: pa.Array,
) -> np.ndarray:
    """Return the rows of aliases with those of the labels that lost to a better one."""
    best = _best(labels, index, rank)
    losers = np.setdiff1d(labels, best)
    losers = _new(losers, np.concatenate([best, aliases]), index, values)
    return np.sort(np.concatenate([aliases, losers]))


def _best(rows: np.ndarray, index: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the row of lowest rank, among equals the first, for each subject."""
    order = rows[np.lexsort((rows, rank[rows], index[rows]))]
    return order[run_starts(index[order])]


def _new(rows: np.ndarray, old_rows: np.ndarray, index: np.ndarray, values: pa.Array) -> np.ndarray:
    """Return the rows whose (subject, value) is not among the known ones, each once."""
    both = np.concatenate([old_rows, rows])
    code = numbers(pc.dictionary_encode(values.take(pa.array(both))).indices)
    pair = index[both] << np.int64(32) | code
    _, first = np.unique(pair, return_index=True)
    return both[first[first >= len(old_rows)]]


def _lists(rows: np.ndarray, index: np.ndarray, values: pa.Array, count: int) -> pa.ChunkedArray:
    order = rows[np.argsort(index[rows], kind="stable")]
    subject, items = index[order], values.take(pa.array(order))
    sizes = np.bincount(subject, weights=numbers(pc.binary_length(items)), minlength=count)
    pieces = []
    for start, stop in _bounds(sizes):
        first, last = np.searchsorted(subject, [start, stop]).tolist()
        within = subject[first:last] - start
        texts = _strings(items, np.arange(first, last))
        lists = lists_from_rows(within, texts, stop - start)
        given = np.bincount(within, minlength=stop - start) > 0
        pieces.append(pc.if_else(pa.array(given), lists, pa.scalar(None, lists.type)))
    return pa.chunked_array(pieces, pa.list_(pa.string()))


def _single(rows: np.ndarray, index: np.ndarray, values: pa.Array, count: int) -> pa.ChunkedArray:
    position = np.full(count, -1, np.int64)
    position[index[rows]] = rows
    sizes = np.zeros(count, np.int64)
    sizes[index[rows]] = numbers(pc.binary_length(values))[rows]
    pieces = [_strings(values, position[start:stop]) for start, stop in _bounds(sizes)]
    return pa.chunked_array(pieces, pa.string())


def _bounds(sizes: np.ndarray) -> list[tuple[int, int]]:
    """Return from where to where a column is cut into pieces, by the bytes of its rows."""
    piece = np.cumsum(sizes).astype(np.int64) // _PIECE
    cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(sizes)]
    return list(pairwise(cuts))


def _strings(values: pa.Array, rows: np.ndarray) -> pa.Array:
    """Return the values of some rows, null for a row of -1, as plain strings."""
    return values.take(pa.array(rows, mask=rows < 0)).cast(pa.string())


def _counts(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse numbers joined by `|`; what is not a number counts as nothing."""
    good = pc.match_substring_regex(texts, r"^[0-9]{1,18}(\|[0-9]{1,18})*$")
    kept = pc.if_else(pc.fill_null(good, False), texts, pa.scalar(None, pa.string()))
    return pc.split_pattern(kept, "|").cast(pa.list_(pa.int64()))
