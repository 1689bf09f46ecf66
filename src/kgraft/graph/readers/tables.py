"""Tables in memory: Arrow, pandas, plain rows, NetworkX graphs, and folders of Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgraft.errors import BadInput
from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    PARTS,
    RELATION_SCHEMA,
    ROWS,
    SPLITS,
    Batch,
    Entities,
    Origin,
    Refusals,
    Relations,
    Triples,
)
from kgraft.graph.columns import numbers
from kgraft.progress import Progress

if TYPE_CHECKING:
    import networkx as nx

RELATED = "related to"


class TablesSource:
    """Triples, and if given entities and relations, as tables.

    Each is an Arrow table, a pandas frame, or a sequence of rows: mappings, or for triples also
    tuples of (head, relation, tail) or (head, relation, tail, split). Lists may be lists or texts
    joined by `|`. Where entities are given, triples may use no others.

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
        *,
        name: str = "tables",
    ) -> None:
        self.name = name
        self.triples = _table(triples, "triples", (*PARTS, "split"))
        self.entities = _table(entities, "entities", ("id",))
        self.relations = _table(relations, "relations", ("id",))
        self.unknown: Literal["refuse", "add", "drop"] = "add" if entities is None else "refuse"

    def describe(self) -> str:
        """Return the name that was given."""
        return self.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities, relations and triples; a row counts as a line in messages."""
        tables = (self.entities, self.relations, self.triples)
        progress.start("reading tables", sum(len(table) for table in tables))
        for rows, origin in _blocks(self.entities, "entities", progress):
            yield Entities(_declared(rows, ENTITY_SCHEMA, "entities"), origin)
        for rows, origin in _blocks(self.relations, "relations", progress):
            yield Relations(_declared(rows, RELATION_SCHEMA, "relations"), origin)
        for rows, origin in _blocks(self.triples, "triples", progress):
            yield from _triples(rows, origin, refusals)


def parquet_source(folder: str | Path) -> TablesSource:
    """Return the source of a folder with triples.parquet, entities.parquet, relations.parquet.

    The last two may be missing.
    """
    folder = Path(folder)
    if not folder.is_dir():
        remedy = "name the folder that holds triples.parquet"
        raise BadInput("is no folder", file=str(folder), remedy=remedy)
    tables = {}
    for name in ("triples", "entities", "relations"):
        path = folder / f"{name}.parquet"
        if name != "triples" and not path.is_file():
            continue
        try:
            tables[name] = pq.read_table(path)
        except (OSError, pa.ArrowException) as error:
            reason = f"cannot be read as Parquet ({' '.join(str(error).split())[:200]})"
            raise BadInput(reason, file=str(path), remedy="write the file again") from error
    return TablesSource(**tables, name=folder.name)


def from_networkx(graph: nx.Graph) -> TablesSource:
    """Return the source of a NetworkX graph, directed or not, multi or not.

    The relation of an edge is its attribute `relation`, else the key of a multigraph's edge where
    that is a text, else `related to`; its attribute `split` is kept. An undirected edge holds both
    ways and becomes two triples, a loop one. Node attributes label, description, aliases and types
    are taken as such, other texts and numbers as extra columns.
    """
    entities = [_node(node, attributes) for node, attributes in graph.nodes(data=True)]
    edges = graph.edges(data=True, keys=True) if graph.is_multigraph() else graph.edges(data=True)
    triples = []
    for head, tail, *key, attributes in edges:
        named = key[0] if key and isinstance(key[0], str) else RELATED
        relation = str(attributes.get("relation") or named)
        split = attributes.get("split") or "train"
        triples.append((str(head), relation, str(tail), split))
        if not graph.is_directed() and head != tail:
            triples.append((str(tail), relation, str(head), split))
    return TablesSource(triples, entities, name=str(graph.name or "networkx"))


def _node(node: object, attributes: Mapping[str, object]) -> dict[str, object]:
    row: dict[str, object] = {}
    for name, value in attributes.items():
        if name in ("aliases", "types") and not isinstance(value, str):
            row[name] = [str(item) for item in value] if isinstance(value, (list, tuple)) else None
        elif isinstance(value, (str, int, float)):
            row[str(name)] = str(value)
    return {**row, "id": str(node)}


def _table(data: object, what: str, columns: tuple[str, ...]) -> pa.Table:
    """Return any kind of table as Arrow's, with the columns it must have."""
    needed = columns[:3]
    if data is None:
        return pa.table({name: pa.array([], pa.string()) for name in needed})
    try:
        table = _arrow(data, columns)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = f"the {what} are no table ({' '.join(str(error).split())[:200]})"
        remedy = "pass an Arrow table, a pandas frame or a list of rows"
        raise BadInput(reason, remedy=remedy) from error
    for name in needed:
        if table.column_names.count(name) != 1:
            raise BadInput(
                f"the {what} need one column {name!r}",
                remedy=f"rename a column; there are: {', '.join(table.column_names) or 'none'}",
            )
    return table


def _arrow(data: object, columns: tuple[str, ...]) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if type(data).__module__.partition(".")[0] == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    rows = [_mapping(row, columns) for row in cast(Iterable[object], data)]
    names = dict.fromkeys([*columns[:3], *(name for row in rows for name in row)])
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def _mapping(row: object, columns: tuple[str, ...]) -> Mapping[str, object]:
    if isinstance(row, Mapping):
        return row
    if not isinstance(row, (tuple, list)) or not 3 <= len(row) <= len(columns):
        raise ValueError(f"a row must have the columns {', '.join(columns)}: {row!r}")
    return dict(zip(columns, row, strict=False))


def _blocks(table: pa.Table, what: str, progress: Progress) -> Iterator[tuple[pa.Table, Origin]]:
    for start in range(0, len(table), ROWS):
        block = table.slice(start, ROWS)
        yield block, Origin(what, np.arange(start + 1, start + 1 + len(block)))
        progress.advance(len(block))


def _declared(rows: pa.Table, schema: pa.Schema, what: str) -> pa.Table:
    """Return rows with the columns' types of the schema, and others as text."""
    columns = {}
    for name in rows.column_names:
        kind = schema.field(name).type if name in schema.names else pa.string()
        columns[name] = _cast(rows[name], kind, f"column {name!r} of the {what}")
    return pa.table(columns)


def _cast(column: pa.ChunkedArray, kind: pa.DataType, what: str) -> pa.ChunkedArray:
    try:
        if pa.types.is_list(kind) and _is_text(column.type):
            text = column.cast(pa.string())
            parts = pc.split_pattern(pc.if_else(pc.equal(text, ""), None, text), "|")
            return parts.cast(kind)
        return column.cast(kind)
    except pa.ArrowException as error:
        reason = f"{what} cannot be read as {kind} ({' '.join(str(error).split())[:200]})"
        raise BadInput(reason, remedy="convert the column first") from error


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(inner)
        or pa.types.is_large_string(inner)
        or pa.types.is_string_view(inner)
    )


def _triples(rows: pa.Table, origin: Origin, refusals: Refusals) -> Iterator[Batch]:
    parts = [_strings(rows, name) for name in PARTS]
    marks = _strings(rows, "split") if "split" in rows.column_names else None
    split = pa.array(["train"] * len(rows)) if marks is None else pc.fill_null(marks, "train")
    empty = [pc.fill_null(pc.equal(part, ""), True) for part in parts]
    bad = pc.or_(pc.or_(empty[0], empty[1]), empty[2])
    odd = pc.invert(pc.is_in(split, pa.array(SPLITS)))
    for row in np.flatnonzero(numbers(pc.or_(bad, odd))).tolist():
        kind = "empty field" if bad[row].as_py() else "unknown split"
        text = "\t".join(str(column[row].as_py()) for column in (*parts, split))
        detail = "" if bad[row].as_py() else repr(split[row].as_py())
        refusals.refuse(kind, file=origin.file, line=origin.line(row), detail=detail, text=text)
    for name in SPLITS:
        keep = pc.and_not(pc.equal(split, name), bad)
        head, relation, tail = (part.filter(keep) for part in parts)
        if len(head):
            lines = np.asarray(origin.lines)[numbers(keep)]
            yield Triples(head, relation, tail, Origin(origin.file, lines), name)


def _strings(rows: pa.Table, name: str) -> pa.Array:
    column = _cast(rows[name], pa.string(), f"column {name!r} of the triples")
    return column.combine_chunks()
