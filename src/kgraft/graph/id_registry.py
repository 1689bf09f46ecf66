"""A registry gives each id of an entity or relation an index, and gathers its rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import arrow_numbers, flat, list_rows, lists_from_rows, numbers
from kgraft.errors import BadInput
from kgraft.graph.attributes import AttributeRows
from kgraft.graph.batches import ENTITY_SCHEMA, Origin, Refusals
from kgraft.graph.id_table import IdTable
from kgraft.graph.iri_names import made_labels

_UNDECLARED = -1


class IdRegistry:
    """Ids in the order of their arrival, with the rows that declare them."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.ids = IdTable()
        self.attributes = AttributeRows()
        self._tables: list[pa.Table] = []
        self._table_indices: list[np.ndarray] = []
        self._lines = np.zeros(0, np.int64)  # of the declarations, see `_declared_at`
        self._before: pa.Table | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def _declared_at(self) -> np.ndarray:
        """The line of the declaration of each index, 0 where unknown, -1 where there is none."""
        count = len(self.ids)
        if count > len(self._lines):
            room = np.full(max(count, 2 * len(self._lines)), _UNDECLARED)
            room[: len(self._lines)] = self._lines
            self._lines = room
        return self._lines[:count]

    @property
    def declared(self) -> bool:
        """Whether some row declared an id (else ids are whatever the triples use)."""
        return bool(self._tables) or self._before is not None

    @property
    def declares(self) -> bool:
        """Whether some row declared an id, those of an existing graph aside."""
        return bool(self._tables)

    def undeclared(self, *, since: int) -> int:
        """Return how many of the ids from index `since` on no row declared."""
        return int((self._declared_at[since:] == _UNDECLARED).sum())

    def start_from(self, table: pa.Table) -> None:
        """Begin with the rows of an existing graph; a declaration may replace their columns."""
        if "types" in table.column_names and not pa.types.is_list(table["types"].type):
            lists = pc.split_pattern(table["types"].cast(pa.string()), "|")  # as 0.2 kept them
            table = table.set_column(table.column_names.index("types"), "types", lists)
        self._before = table
        self.ids.look_up(flat(table["id"]), add=True)

    def are_declared(self) -> np.ndarray:
        """Return for each index whether a row declared it."""
        return self._declared_at != _UNDECLARED

    def declare(self, table: pa.Table, origin: Origin, refusals: Refusals) -> None:
        """Take rows that declare ids; one without an id, or with an id declared before, is bad."""
        table = _with_lists(table, self.schema, origin)
        ids = flat(table["id"]).cast(pa.string())
        usable = numbers(pc.fill_null(pc.not_equal(ids, ""), False)).copy()
        usable[_misfit_counts(table)] = False
        kept, declared = self._first_declarations(np.flatnonzero(usable), ids)
        lines = 0 if origin.lines is None else np.asarray(origin.lines)[kept]
        self._declared_at[declared] = lines
        for row in np.setdiff1d(np.arange(len(table)), kept).tolist():
            self._refuse(table, row, origin, refusals)
        all_kept = len(kept) == len(table)
        self._tables.append(table if all_kept else table.take(arrow_numbers(kept)))
        self._table_indices.append(declared)

    def _first_declarations(self, rows: np.ndarray, ids: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows whose ids no row before them declared, and the indices of these ids."""
        index = self.ids.look_up(ids.take(arrow_numbers(rows)), add=True)
        first = np.zeros(len(rows), bool)
        first[np.unique(index, return_index=True)[1]] = True
        first &= self._declared_at[index] == _UNDECLARED
        return rows[first], index[first]

    def _refuse(self, table: pa.Table, row: int, origin: Origin, refusals: Refusals) -> None:
        item = table["id"][row].as_py()
        index = self.ids.get(item) if item else _UNDECLARED
        before = int(self._declared_at[index]) if index >= 0 else _UNDECLARED
        if not item:
            kind, detail = "empty id", ""
        elif before != _UNDECLARED:
            kind = "duplicate id"
            detail = repr(item) + (f", first in line {before}" if before else "")
        else:
            kind, detail = "name_counts misfit", "one number is needed for the label and each alias"
        cells = (table[name][row].as_py() for name in table.column_names)
        text = "\t".join("|".join(map(str, c)) if isinstance(c, list) else str(c) for c in cells)
        refusals.refuse(kind, file=origin.file, line=origin.line(row), detail=detail, text=text)

    def lookup(self, ids: pa.Array, *, add: bool) -> np.ndarray:
        """Return the index of every id, -1 for an unknown one, which `add` adds instead."""
        return self.ids.look_up(ids, add=add)

    def table(self) -> pa.Table:
        """Return one row per index: declared rows and attributes together, gaps filled."""
        ids = self.ids.column
        counted = "name_counts" in self.schema.names
        merged = self.attributes.merge(len(self), counted=counted)
        parts = [self._declared_table(), pa.table(merged)]
        if self._before is not None:
            parts.append(_padded(self._before, len(self)))
        names = dict.fromkeys([*self.schema.names, *(n for p in parts for n in p.column_names)])
        columns = {"id": ids}
        for name in list(names)[1:]:
            kind = self.schema.field(name).type if name in self.schema.names else pa.string()
            columns[name] = _filled(
                name, [p[name] for p in parts if name in p.column_names], kind, ids
            )
        return _without_misfits(pa.table(columns))

    def _declared_table(self) -> pa.Table:
        if not self._tables:
            return pa.table({})
        rows = pa.concat_tables(self._tables, promote_options="permissive")
        index = np.concatenate(self._table_indices)
        if len(index) == len(self) and (index == np.arange(len(index))).all():
            return rows
        row_of = np.full(len(self), -1, np.int64)
        row_of[index] = np.arange(len(index))
        return rows.take(pa.array(row_of, mask=row_of < 0))


def _with_lists(table: pa.Table, schema: pa.Schema, origin: Origin) -> pa.Table:
    """Take a column `alias` or `type` for the list of one item that it means."""
    for one, many in (("alias", "aliases"), ("type", "types")):
        if one not in table.column_names:
            continue
        if many not in schema.names or _says_something(table, many):
            remedy = "give the column another name"
            raise BadInput(f"a column is named {one!r}", file=origin.file, remedy=remedy)
        items = flat(table[one]).cast(pa.string())
        is_filled = numbers(pc.fill_null(pc.not_equal(items, ""), False))
        lists = lists_from_rows(
            np.flatnonzero(is_filled), items.filter(pa.array(is_filled)), len(table)
        )
        others = [name for name in table.column_names if name not in (one, many)]
        table = table.select(others).append_column(many, lists)
    return table


def _says_something(table: pa.Table, name: str) -> bool:
    return name in table.column_names and len(list_rows(table[name])[0]) > 0


def _padded(table: pa.Table, count: int) -> pa.Table:
    row = np.arange(count)
    return table.take(pa.array(row, mask=row >= len(table)))


def _filled(
    name: str, parts: list[pa.ChunkedArray], kind: pa.DataType, ids: pa.ChunkedArray
) -> pa.ChunkedArray | pa.Array:
    """Return a column from the parts that have it; what none of them has gets its default."""
    if not parts:
        column = pa.nulls(len(ids), kind)
    else:
        parts = [part.cast(kind) for part in parts]
        column = parts[0] if len(parts) == 1 else pc.coalesce(*map(_given, parts))
    if kind == ENTITY_SCHEMA.field("name_counts").type:
        return column
    if pa.types.is_list(kind):
        return lists_from_rows(*list_rows(column), len(column)) if column.null_count else column
    if name == "label":
        return _labelled(column, ids)
    return pc.fill_null(column, "")


def _labelled(labels: pa.ChunkedArray, ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the labels, with one made from the id where there is none."""
    absent = pc.equal(pc.fill_null(labels, ""), "")
    if not pc.any(absent).as_py():
        return labels
    made = made_labels(pc.if_else(absent, ids, ""))
    return pc.if_else(absent, made, labels)


def _given(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with null in place of what says nothing: an empty text or list."""
    if pa.types.is_list(column.type):
        empty = pc.equal(pc.list_value_length(column), 0)
    else:
        empty = pc.equal(column, "")
    return pc.if_else(pc.fill_null(empty, False), pa.scalar(None, column.type), column)


def _without_misfits(table: pa.Table) -> pa.Table:
    """Forget the name_counts of rows whose names were replaced."""
    misfits = _misfit_counts(table)
    if not len(misfits):
        return table
    keep = np.ones(len(table), bool)
    keep[misfits] = False
    counts = table["name_counts"].combine_chunks()
    counts = pc.if_else(pa.array(keep), counts, pa.scalar(None, counts.type))
    return table.set_column(table.column_names.index("name_counts"), "name_counts", counts)


def _misfit_counts(table: pa.Table) -> np.ndarray:
    """Return the rows whose name_counts are not one for the label and one for each alias."""
    if "name_counts" not in table.column_names or pa.types.is_string(table["name_counts"].type):
        return np.zeros(0, np.int64)  # relations may have such a column, with another meaning
    sizes = pc.list_value_length(table["name_counts"])
    aliases = 0
    if "aliases" in table.column_names:
        aliases = pc.fill_null(pc.list_value_length(table["aliases"]), 0)
    misfit = pc.fill_null(pc.not_equal(sizes, pc.add(aliases, 1)), False)
    return np.flatnonzero(numbers(misfit))
