"""Values in columns of a table of entities that mean nothing to kgraft: numbers, dates, texts.

A column is of numbers, dates or booleans where all its cells are; else its cells are texts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import arrow_numbers, flat, numbers, take_rows
from kgraft.graph.batches import ENTITY_SCHEMA
from kgraft.graph.literals import XSD, Literal, Value, same_value, typed

_KINDS = {
    "integer": r"^-?(0|[1-9][0-9]{0,17})$",  # 007 is a code
    "double": r"^-?([0-9]|[1-9][0-9]+)(\.[0-9]+)?([eE][-+]?[0-9]+)?$",
    "date": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
    "dateTime": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?$",
    "boolean": r"^(true|false)$",
}


class ColumnValues:
    """Look-ups in the other columns of entities; the name of a column is its property."""

    def __init__(self, entities: pa.Table) -> None:
        others = [name for name in entities.column_names if name not in ENTITY_SCHEMA.names]
        self.table = entities.select(others)

    @cached_property
    def datatypes(self) -> dict[str, str]:
        """The datatype that all filled cells of a column have, by the column's name."""
        return {name: _datatype(flat(self.table[name])) for name in self.table.column_names}

    def of(self, entity: int) -> list[Literal]:
        """Return the values of an entity; empty cells are left out."""
        if not self.table.column_names:
            return []
        row = take_rows(self.table, np.array([entity])).to_pylist()[0]
        return [self._literal(name, text) for name, text in row.items() if text]

    def _literal(self, name: str, text: str) -> Literal:
        datatype = self.datatypes[name]
        value, kind, unit = typed(text, datatype)
        return Literal(name, name, value, text, kind, "", unit, datatype)

    def find(self, name: str, value: Value) -> np.ndarray:
        """Return the entities with a value in a column: texts as they stand, others by meaning."""
        column = flat(self.table[name])
        if isinstance(value, str):
            return np.flatnonzero(numbers(pc.fill_null(pc.equal(column, value), False)))
        rows = np.flatnonzero(numbers(pc.fill_null(pc.not_equal(column, ""), False)))
        encoded = pc.dictionary_encode(column.take(arrow_numbers(rows)))
        means = [
            same_value(typed(text, self.datatypes[name])[0], value)
            for text in encoded.dictionary.to_pylist()
        ]
        return rows[np.array(means, bool)[numbers(encoded.indices)]]


def _datatype(cells: pa.Array) -> str:
    filled = cells.filter(pc.fill_null(pc.not_equal(cells, ""), False))
    if not len(filled):
        return ""
    for name, pattern in _KINDS.items():
        if pc.all(pc.match_substring_regex(filled, pattern)).as_py():
            return f"{XSD}{name}"
    return ""
