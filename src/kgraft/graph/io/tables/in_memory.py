"""Tables in memory: Arrow, pandas, plain rows, NetworkX graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.errors import BadInput
from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    PARTS,
    RELATION_SCHEMA,
    ROWS,
    Batch,
    Entities,
    Origin,
    Refusals,
    Relations,
)
from kgraft.graph.io.options import Undeclared
from kgraft.graph.io.tables.column_names import (
    RELATED,
    EdgeColumns,
    edge_columns,
    entity_columns,
    note,
)
from kgraft.graph.io.tables.edges import EdgeRows
from kgraft.graph.io.tables.literal_rows import (
    NEEDED,
    check_columns,
    count_others,
    literal_batches,
    typed_columns,
)
from kgraft.graph.literals import lexical
from kgraft.progress import Progress

if TYPE_CHECKING:
    import networkx as nx


class TablesSource:
    """Triples, and if given entities, relations and values of properties, as tables.

    Each is an Arrow table, a pandas frame, or a sequence of rows: mappings, or for triples also
    tuples of (head, relation, tail) or (head, relation, tail, split). Lists may be lists or texts
    joined by `|`. Columns may have the names that other programs give them (`source`, `target`,
    `name`, …). Entities that only triples name are added, or with `undeclared="refuse"` refused.
    Literals have the columns entity, property, value, and if need be datatype and language; a value
    that is a number, a date or a boolean needs no datatype.

    >>> source = TablesSource([("Berlin", "capital of", "Germany")])
    >>> source.unknown
    'add'
    """

    format = "tables"
    types_are_ids = False

    def __init__(
        self,
        triples: object = None,
        entities: object = None,
        relations: object = None,
        literals: object = None,
        *,
        name: str = "tables",
        undeclared: Undeclared = "add",
    ) -> None:
        self.name = name
        self.notes: list[str] = []
        self.triples = _table(triples, "triples", (*PARTS, "split"))
        self._edges = edge_columns(self.triples.column_names) or EdgeColumns(0, 2, 1)
        self.entities = self._renamed(_table(entities, "entities", ("id",)), "entity")
        self.relations = self._renamed(_table(relations, "relations", ("id",)), "relation")
        self.literals = _literal_table(literals)
        self.unknown: Literal["refuse", "add", "drop"] = undeclared

    def describe(self) -> str:
        """Return the name that was given."""
        return self.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities, relations, triples, values; a row counts as a line in messages."""
        tables = (self.entities, self.relations, self.triples, self.literals)
        progress.start("reading tables", sum(len(table) for table in tables))
        for rows, origin in _blocks(self.entities, "entities", progress):
            yield Entities(_declared(rows, ENTITY_SCHEMA, "entities", refusals), origin)
        for rows, origin in _blocks(self.relations, "relations", progress):
            yield Relations(_declared(rows, RELATION_SCHEMA, "relations", refusals), origin)
        yield from self._triples(refusals, progress)
        for rows, origin in _blocks(self.literals, "literals", progress):
            columns = dict(zip(rows.column_names, rows.columns, strict=True))
            count_others(columns, rows.column_names, refusals)
            yield from literal_batches(typed_columns(rows), origin, refusals)

    def _triples(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        names = self.triples.column_names
        for text in (*self.notes, *self._edges.notes(names, self.name)):
            refusals.note(text)
        edges = EdgeRows(self._edges, names, "triples", refusals)
        for rows, origin in _blocks(self.triples, "triples", progress):
            assert origin.lines is not None
            yield from edges.triples(_strings(rows, self._edges.used), origin.lines)

    def _renamed(self, table: pa.Table, of: Literal["entity", "relation"]) -> pa.Table:
        """Give our names to columns that go by another one, and note it."""
        names = table.column_names
        places = entity_columns(names, of=of)
        for column, position in places.items():
            if names[position] != column:
                self.notes.append(note(names[position], column, self.name))
                kind = table.schema.field(position).type
                if not pa.types.is_list(kind) and not _is_text(kind):
                    table = table.set_column(
                        position, names[position], _text(table, names[position])
                    )
        ours = {position: column for column, position in places.items()}
        return table.rename_columns([ours.get(k, name) for k, name in enumerate(names)])


def from_networkx(graph: nx.Graph) -> TablesSource:
    """Return the source of a NetworkX graph, directed or not, multi or not.

    The relation of an edge is its attribute `relation` (or `predicate`, `type`, `label`), else the
    key of a multigraph's edge where that is a text, else `related to`; its attribute `split` is
    kept. An undirected edge holds both
    ways and becomes two triples, a loop one. Node attributes label, description, aliases and types
    are taken as such, other texts, numbers and dates as extra columns, lists of them as literals.
    """
    literals: list[tuple[str, str, object]] = []
    left_out: Counter[str] = Counter()
    entities = [
        _node(node, attributes, literals, left_out) for node, attributes in graph.nodes(data=True)
    ]
    name = str(graph.name or "networkx")
    source = TablesSource(_networkx_triples(graph), entities, None, literals, name=name)
    source.notes += [
        f"attribute {name!r} of {count:,} nodes is neither text, number nor date: left out"
        for name, count in left_out.items()
    ]
    return source


def _networkx_triples(graph: nx.Graph) -> list[tuple[str, str, str, str]]:
    """Return head, relation, tail and split of every edge; undirected ones hold both ways."""
    edges = graph.edges(data=True, keys=True) if graph.is_multigraph() else graph.edges(data=True)
    triples = []
    for head, tail, *key, attributes in edges:
        default = key[0] if key and isinstance(key[0], str) else RELATED
        values = (attributes.get(name) for name in ("relation", "predicate", "type", "label"))
        relation = str(next((value for value in values if value), default))
        split = attributes.get("split") or "train"
        triples.append((str(head), relation, str(tail), split))
        if not graph.is_directed() and head != tail:
            triples.append((str(tail), relation, str(head), split))
    return triples


def _node(
    node: object,
    attributes: Mapping[str, object],
    literals: list[tuple[str, str, object]],
    left_out: Counter[str],
) -> dict[str, object]:
    """Return a node's row; lists that are neither names nor types go to the literals."""
    row: dict[str, object] = {}
    for name, value in attributes.items():
        name = str(name)
        items = value if isinstance(value, (list, tuple)) else [value]
        texts = [lexical(item) for item in items]
        if name in ("aliases", "types") and not isinstance(value, str):
            row[name] = [str(item) for item in items if item is not None]
        elif None in texts:
            left_out[name] += value is not None
        elif items is value:
            literals += [(str(node), name, item) for item in items if name]
        else:
            row[name] = texts[0][0] if texts[0] else None
    return {**row, "id": str(node)}


def _table(data: object, role: str, columns: tuple[str, ...]) -> pa.Table:
    """Return any kind of table as Arrow's, with the columns it must have."""
    needed = columns[:3]
    if data is None:
        return pa.table({name: pa.array([], pa.string()) for name in needed})
    try:
        table = _arrow(data, columns)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = f"the {role} are not a table ({' '.join(str(error).split())[:200]})"
        remedy = "pass an Arrow table, a pandas frame or a list of rows"
        raise BadInput(reason, remedy=remedy) from error
    names = table.column_names
    if role == "triples" and edge_columns(names) and len(set(names)) == len(names):
        return table
    columns_by_role = entity_columns(names, of="entity" if role == "entities" else "relation")
    for name in needed if role == "triples" or "id" not in columns_by_role else ():
        if names.count(name) != 1:
            raise BadInput(
                f"the {role} need one column {name!r}",
                remedy=f"rename a column; there are: {', '.join(names) or 'none'}",
            )
    return table


def _literal_table(data: object) -> pa.Table:
    """Return literals as a table; rows whose values are of several kinds are made texts first."""
    if data is None:
        return pa.table({name: pa.array([], pa.string()) for name in NEEDED})
    if not isinstance(data, pa.Table) and isinstance(data, (list, tuple)):
        rows = [dict(_mapping(row, (*NEEDED, "datatype", "language"))) for row in data]
        for row in rows:
            made = lexical(row.get("value"))
            if made is not None:
                row["value"], row["datatype"] = made[0], row.get("datatype") or made[1]
        data = rows
    try:
        table = _arrow(data, NEEDED)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = f"the literals are not a table ({' '.join(str(error).split())[:200]})"
        remedy = "pass rows of (entity, property, value), an Arrow table or a pandas frame"
        raise BadInput(reason, remedy=remedy) from error
    check_columns(table.column_names, "literals")
    return table


def _arrow(data: object, columns: tuple[str, ...]) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if type(data).__module__.partition(".")[0] == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    rows = [_mapping(row, columns) for row in cast(Iterable[object], data)]
    names_in_rows = list(dict.fromkeys(str(name) for row in rows for name in row))
    foreign = (
        edge_columns(names_in_rows)
        if len(columns) > 1
        else "id" in entity_columns(names_in_rows, of="entity")
    )
    names = names_in_rows if foreign else dict.fromkeys([*columns[:3], *names_in_rows])
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def _mapping(row: object, columns: tuple[str, ...]) -> Mapping[str, object]:
    if isinstance(row, Mapping):
        return row
    if not isinstance(row, (tuple, list)) or not 3 <= len(row) <= len(columns):
        raise ValueError(f"a row must have the columns {', '.join(columns)}: {row!r}")
    return dict(zip(columns, row, strict=False))


def _blocks(table: pa.Table, role: str, progress: Progress) -> Iterator[tuple[pa.Table, Origin]]:
    for start in range(0, len(table), ROWS):
        block = table.slice(start, ROWS)
        yield block, Origin(role, np.arange(start + 1, start + 1 + len(block)))
        progress.advance(len(block))


def _declared(rows: pa.Table, schema: pa.Schema, role: str, refusals: Refusals) -> pa.Table:
    """Return rows with the columns' types of the schema, and others as text.

    Columns of octets, such as shapes on a map, are left out and noted.
    """
    columns = {}
    for name in rows.column_names:
        if name not in schema.names and _is_binary(rows[name].type):
            refusals.note(f"column {name!r} of the {role} is binary: left out")
            continue
        kind = schema.field(name).type if name in schema.names else pa.string()
        columns[name] = _cast(rows[name], kind, f"column {name!r} of the {role}")
    return pa.table(columns)


def _cast(column: pa.ChunkedArray, kind: pa.DataType, title: str) -> pa.ChunkedArray:
    try:
        if pa.types.is_list(kind) and _is_text(column.type):
            text = column.cast(pa.string())
            parts = pc.split_pattern(pc.if_else(pc.equal(text, ""), None, text), "|")
            return parts.cast(kind)
        return column.cast(kind)
    except pa.ArrowException as error:
        reason = f"{title} cannot be read as {kind} ({' '.join(str(error).split())[:200]})"
        raise BadInput(reason, remedy="convert the column first") from error


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(inner)
        or pa.types.is_large_string(inner)
        or pa.types.is_string_view(inner)
    )


def _strings(rows: pa.Table, used: set[int]) -> list[pa.Array]:
    """Return the columns of triples, those that are used as strings."""
    return [
        (_text(rows, name) if k in used else rows[name]).combine_chunks()
        for k, name in enumerate(rows.column_names)
    ]


def _text(rows: pa.Table, name: str) -> pa.ChunkedArray:
    return _cast(rows[name], pa.string(), f"column {name!r}")
