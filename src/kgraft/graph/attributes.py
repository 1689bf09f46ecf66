"""Attributes that arrive one by one, merged into one row an entity or relation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.graph.columns import lists_from_rows, numbers

_LIST_FIELDS = {"alias": "aliases", "type": "types"}


class AttributeRows:
    """Gathers (number of the subject, field, value, rank); see `batches.Attributes`."""

    def __init__(self) -> None:
        self._number: list[np.ndarray] = []
        self._field: list[pa.Array] = []
        self._value: list[pa.Array] = []
        self._rank: list[np.ndarray] = []

    def add(self, number: np.ndarray, field: pa.Array, value: pa.Array, rank: np.ndarray) -> None:
        """Take rows in."""
        self._number.append(number)
        self._field.append(field.cast(pa.string()))
        self._value.append(value.cast(pa.string()))
        self._rank.append(rank)

    def merge(self, count: int) -> dict[str, pa.Array]:
        """Return the columns that the rows fill, each with `count` rows, null where none came."""
        if not self._number:
            return {}
        number, rank = np.concatenate(self._number), np.concatenate(self._rank)
        fields = pc.dictionary_encode(pa.concat_arrays(self._field))
        values = pa.concat_arrays(self._value)
        codes = numbers(fields.indices)
        rows = {
            name: np.flatnonzero(codes == code)
            for code, name in enumerate(fields.dictionary.to_pylist())
        }
        if "label" in rows:
            best = _best(rows["label"], number, rank)
            losers = np.setdiff1d(rows["label"], best)
            aliases = rows.get("alias", np.zeros(0, np.int64))
            losers = _new(losers, np.concatenate([best, aliases]), number, values)
            rows["alias"] = np.sort(np.concatenate([aliases, losers]))
        columns = {}
        for name, chosen in rows.items():
            if name in _LIST_FIELDS:
                columns[_LIST_FIELDS[name]] = _lists(chosen, number, values, count)
            else:
                columns[name] = _single(_best(chosen, number, rank), number, values, count)
        if "name_counts" in columns:
            columns["name_counts"] = _counts(columns["name_counts"])
        return columns


def _best(rows: np.ndarray, number: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the row of lowest rank, among equals the first, for each subject."""
    order = rows[np.lexsort((rows, rank[rows], number[rows]))]
    return order[np.append(True, number[order][1:] != number[order][:-1])[: len(order)]]


def _new(rows: np.ndarray, known: np.ndarray, number: np.ndarray, values: pa.Array) -> np.ndarray:
    """Return the rows whose (subject, value) is not among the known ones, each once."""
    both = np.concatenate([known, rows])
    code = numbers(pc.dictionary_encode(values.take(pa.array(both))).indices)
    pair = number[both] << np.int64(32) | code
    _, first = np.unique(pair, return_index=True)
    return both[first[first >= len(known)]]


def _lists(rows: np.ndarray, number: np.ndarray, values: pa.Array, count: int) -> pa.Array:
    order = rows[np.argsort(number[rows], kind="stable")]
    lists = lists_from_rows(number[order], values.take(pa.array(order)), count)
    given = np.bincount(number[order], minlength=count) > 0
    return pc.if_else(pa.array(given), lists, pa.scalar(None, lists.type))


def _single(rows: np.ndarray, number: np.ndarray, values: pa.Array, count: int) -> pa.Array:
    place = np.full(count, -1, np.int64)
    place[number[rows]] = rows
    return values.take(pa.array(place, mask=place < 0))


def _counts(texts: pa.Array) -> pa.Array:
    """Parse numbers joined by `|`; what is no number counts as nothing."""
    parsed = [
        [int(item) for item in text.split("|")]
        if text and all(item.isdecimal() and len(item) < 19 for item in text.split("|"))
        else None
        for text in texts.to_pylist()
    ]
    return pa.array(parsed, pa.list_(pa.int64()))
