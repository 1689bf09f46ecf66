"""Literals: the values of an entity's properties, typed, in columns sorted by entity.

Three tables hold them. `literals` has a row per value: the index of the entity (or -1 - the index
of a relation that is not an entity), of the property and of the datatype, and the text.
`properties` has the id and label of each property, `datatypes` the IRI of each datatype: `@en`
stands for a text in that language, `<>` for a link to a page, and the empty string for a plain
string. A number with a unit has the unit for its datatype. Properties and datatypes are numbered
by their first row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal as OneOf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import arrow_numbers, flat, numbers, take_rows
from kgraft.graph.iri_names import PREFIXES, made_label

LINK = "<>"  # no language tag: `@id` is Indonesian
SCHEMA = pa.schema(
    {
        "entity": pa.int32(),
        "property": pa.int32(),
        "datatype": pa.int32(),
        "value": pa.large_string(),
    }
)
PROPERTIES = pa.schema({"id": pa.string(), "label": pa.string()})
DATATYPES = pa.schema({"id": pa.string()})

XSD = PREFIXES["xsd"]
_WHOLE = frozenset(("gYear", "integer", "int", "long", "short", "byte"))
_SIGNED = ("unsigned", "positive", "negative", "nonPositive", "nonNegative")
_REAL = frozenset(("decimal", "double", "float"))
_MONTH = re.compile(r"-?[0-9]{4,}-(?:0[1-9]|1[0-2])")

Kind = OneOf["string", "number", "date", "boolean", "quantity", "language string", "link"]
Value = str | int | float | bool | date | datetime


@dataclass(frozen=True)
class Literal:
    """One value of a property; `text` is as the source wrote it, `value` what it means."""

    property_id: str
    property_label: str
    value: Value
    text: str
    kind: Kind
    language: str = ""
    unit: str = ""
    datatype: str = ""

    def words(self) -> str:
        """Say the value: `height: 1.83 metre`."""
        tag = f" {self.unit}" if self.unit else f" ({self.language})" if self.language else ""
        return f"{self.property_label}: {self.text}{tag}"


@dataclass(frozen=True)
class LiteralTables:
    """The three tables, as a graph's content holds them."""

    literals: pa.Table
    properties: pa.Table
    datatypes: pa.Table

    @classmethod
    def empty(cls) -> LiteralTables:
        """Return tables without rows."""
        return cls(*(schema.empty_table() for schema in (SCHEMA, PROPERTIES, DATATYPES)))

    def __len__(self) -> int:
        return len(self.literals)

    @property
    def entity(self) -> np.ndarray:
        """The number of each row's entity, ascending."""
        return numbers(self.literals["entity"])

    def named(self) -> dict[str, pa.Table]:
        """Return the tables by name."""
        tables = (self.literals, self.properties, self.datatypes)
        return dict(zip(("literals", "properties", "datatypes"), tables, strict=True))

    def reindexed(self, entity: np.ndarray, relation: np.ndarray) -> LiteralTables:
        """Return the rows whose subject stays, given its new number, or -1, for each old one."""
        old = self.entity
        moved = np.full(len(old), -1, np.int64)
        of_entity = old >= 0
        moved[of_entity] = entity[old[of_entity]]
        new_relation = relation[-1 - old[~of_entity]]
        stays = of_entity & (moved >= 0)
        moved[~of_entity] = -1 - new_relation
        stays[~of_entity] = new_relation >= 0
        rows = np.flatnonzero(stays)
        return self.rows(rows, moved[rows])

    def without_properties(self, ids: Sequence[str]) -> LiteralTables:
        """Return the rows of all properties but some."""
        gone = numbers(pc.is_in(self.properties["id"], pa.array(ids, pa.string())))
        kept = np.flatnonzero(~gone[numbers(self.literals["property"])])
        return self.rows(kept, self.entity[kept])

    def rows(self, rows: np.ndarray, entity: np.ndarray) -> LiteralTables:
        """Return some rows, with these indices of entities, in order of them."""
        order = np.argsort(entity, kind="stable")
        table = self.literals.take(arrow_numbers(rows[order]))
        table = table.set_column(0, "entity", arrow_numbers(entity[order].astype(np.int32)))
        return LiteralTables(table, self.properties, self.datatypes).compacted()

    def compacted(self) -> LiteralTables:
        """Return the same rows with the properties and datatypes that they use, by first use."""
        literals, tables = self.literals, []
        for name, table in (("property", self.properties), ("datatype", self.datatypes)):
            used, first, position = np.unique(
                numbers(literals[name]), return_index=True, return_inverse=True
            )
            order = np.argsort(first)
            number = np.argsort(order)[position]
            column = literals.column_names.index(name)
            literals = literals.set_column(column, name, arrow_numbers(number.astype(np.int32)))
            tables.append(table.take(arrow_numbers(used[order])))
        return LiteralTables(literals, *tables)

    def labelled(self, *named: pa.Table) -> LiteralTables:
        """Return the same rows with the properties called as relations or entities of their ids.

        `named` are tables of relations and of entities; the first that has an id gives the label.
        """
        labels = labels_in(flat(self.properties["id"]), *named)
        rows = zip(*(self.properties[name].to_pylist() for name in PROPERTIES.names), strict=True)
        columns = [(item, labels.get(item, label)) for item, label in rows]
        ids, names = zip(*columns, strict=True) if columns else ((), ())
        properties = pa.table({"id": ids, "label": names}, PROPERTIES)
        return LiteralTables(self.literals, properties, self.datatypes)

    def keys(self) -> tuple[pa.Array, pa.Array]:
        """Return the id of the property and of the datatype of each row."""
        return (
            flat(self.properties["id"].take(self.literals["property"])),
            flat(self.datatypes["id"].take(self.literals["datatype"])),
        )


def labels_in(ids: pa.Array, *named: pa.Table) -> dict[str, str]:
    """Return the label of each id that one of the tables has, from the first that has it."""
    labels: dict[str, str] = {}
    for table in reversed(named):
        rows = table.select(["id", "label"])
        rows = rows.filter(pc.is_in(rows["id"], ids.cast(rows.schema.field("id").type)))
        labels |= zip(rows["id"].to_pylist(), rows["label"].to_pylist(), strict=True)
    return labels


def make_tables(
    entity: np.ndarray,
    keys: tuple[pa.Array, pa.Array],
    value: pa.Array | pa.ChunkedArray,
    label_of: Callable[[str], str | None] = lambda _: None,
) -> LiteralTables:
    """Return tables of rows in any order: subjects, ids of properties and datatypes, and texts.

    The rows of a subject stay in their order; equal ones are kept once.
    """
    codes = [pc.dictionary_encode(column) for column in keys]
    texts = flat(value).cast(pa.large_string())
    numbered = [numbers(code.indices).astype(np.int64) for code in codes]
    order = _distinct(entity, numbered[0], numbered[1], texts)
    columns = [
        arrow_numbers(entity[order].astype(np.int32)),
        *(arrow_numbers(code[order].astype(np.int32)) for code in numbered),
        texts.take(arrow_numbers(order)),
    ]
    literals = pa.Table.from_arrays(columns, schema=SCHEMA)
    properties = _properties(codes[0].dictionary.to_pylist(), label_of)
    datatypes = pa.table({"id": codes[1].dictionary.to_pylist()}, DATATYPES)
    return LiteralTables(literals, properties, datatypes).compacted()


def _properties(ids: list[str], label_of: Callable[[str], str | None]) -> pa.Table:
    labels = [label_of(item) or made_label(item) for item in ids]
    return pa.table({"id": ids, "label": labels}, PROPERTIES)


def _distinct(
    entity: np.ndarray, property_: np.ndarray, datatype: np.ndarray, texts: pa.Array
) -> np.ndarray:
    """Return the first of equal rows each, in order of entity and then of arrival."""
    text = numbers(pc.dictionary_encode(texts).indices).astype(np.int64)
    order = np.lexsort((np.arange(len(entity)), text, datatype, property_, entity))
    columns = [column[order] for column in (entity, property_, datatype, text)]
    first = np.ones(len(order), bool)
    first[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    kept = np.sort(order[first])
    return kept[np.argsort(entity[kept], kind="stable")]


class LiteralStore:
    """Look-ups in the literals of a graph."""

    def __init__(self, tables: LiteralTables, unit_of: Callable[[str], str] = made_label) -> None:
        self.tables, self._unit_of = tables, unit_of
        self.ids = tables.properties["id"].to_pylist()
        self.labels = tables.properties["label"].to_pylist()
        self.datatypes = tables.datatypes["id"].to_pylist()
        self._entity = tables.entity

    def of(self, entity: int) -> list[Literal]:
        """Return the literals of an entity."""
        first, last = np.searchsorted(self._entity, [entity, entity + 1])
        rows = take_rows(self.tables.literals, np.arange(first, last)).to_pylist()
        return [self.literal(row["property"], row["datatype"], row["value"]) for row in rows]

    def literal(self, property_: int, datatype: int, text: str) -> Literal:
        """Return one literal, typed."""
        name = self.datatypes[datatype]
        value, kind, unit = typed(text, name)
        language = name[1:] if kind == "language string" else ""
        unit = self._unit_of(name) if unit else ""
        named = self.ids[property_], self.labels[property_]
        return Literal(*named, value, text, kind, language, unit, name)

    def properties_named(self, which: str) -> list[int]:
        """Return the numbers of the properties with an id or, failing that, a label."""
        if which in self.ids:
            return [self.ids.index(which)]
        return [row for row, label in enumerate(self.labels) if label == which]

    def find(self, properties: list[int], value: Value) -> np.ndarray:
        """Return the entities with a value of one of some properties, compared by meaning.

        Texts compare exactly; numbers, dates and booleans by what they mean.
        """
        literals = self.tables.literals
        of = numbers(pc.is_in(literals["property"], pa.array(properties, pa.int32())))
        if isinstance(value, str):
            rows = np.flatnonzero(of & numbers(pc.equal(literals["value"], value)))
        else:
            rows = self._rows_that_mean(value, np.flatnonzero(of))
        entities = np.unique(self._entity[rows])
        return entities[entities >= 0]

    def _rows_that_mean(self, value: Value, rows: np.ndarray) -> np.ndarray:
        """Return those of some rows whose text and datatype mean a value."""
        literals = self.tables.literals
        texts = flat(literals["value"].take(arrow_numbers(rows)))
        types = numbers(literals["datatype"])[rows]
        hits = np.zeros(len(rows), bool)
        for datatype in np.unique(types).tolist():
            within = types == datatype
            encoded = pc.dictionary_encode(texts.filter(pa.array(within)))
            means = [
                same_value(typed(text, self.datatypes[datatype])[0], value)
                for text in encoded.dictionary.to_pylist()
            ]
            hits[within] = np.array(means, bool)[numbers(encoded.indices)]
        return rows[hits]


def same_value(one: Value, other: Value) -> bool:
    """Whether two values mean the same; a boolean is not a number, a date not a text."""
    if isinstance(one, bool) or isinstance(other, bool) or isinstance(one, date):
        return type(one) is type(other) and one == other
    return one == other


def typed(text: str, datatype: str) -> tuple[Value, Kind, str]:
    """Return what a literal means: its value, its kind, and its unit where it has one.

    >>> typed("5", "http://www.w3.org/2001/XMLSchema#integer")
    (5, 'number', '')
    >>> typed("1.5", "http://dbpedia.org/datatype/squareKilometre")
    (1.5, 'quantity', 'square kilometre')
    >>> typed("soon", "http://www.w3.org/2001/XMLSchema#date")
    ('soon', 'string', '')
    """
    if not datatype:
        return text, "string", ""
    if datatype == LINK:
        return text, "link", ""
    if datatype.startswith("@"):
        return text, "language string", ""
    try:
        if datatype.startswith(XSD):
            return _standard(text.strip(), datatype.removeprefix(XSD))
        return _real(text.strip()), "quantity", made_label(datatype)
    except (ValueError, OverflowError):
        return text, "string", ""


def _standard(text: str, name: str) -> tuple[Value, Kind, str]:
    """Return the value of one of XML Schema's datatypes; a ValueError where it has none."""
    if name == "gYear":
        return int(text), "date", ""
    if name in _WHOLE or name.startswith(_SIGNED):
        return int(text), "number", ""
    if name in _REAL:
        return _real(text), "number", ""
    if name == "boolean" and text in ("true", "false", "1", "0"):
        return text in ("true", "1"), "boolean", ""
    if name == "gYearMonth" and _MONTH.fullmatch(text):
        return text, "date", ""
    if name == "date":
        return date.fromisoformat(text[:10] if text[10:11] in ("Z", "+", "-") else text), "date", ""
    if name in ("dateTime", "dateTimeStamp"):
        return datetime.fromisoformat(text), "date", ""
    return text, "link" if name == "anyURI" else "string", ""


def _real(text: str) -> float:
    value = float(text)
    if "_" in text:
        raise ValueError("an underscore is not part of a number")
    return value


def lexical(value: object) -> tuple[str, str] | None:
    """Return the text and the datatype of a value; None where no datatype fits.

    >>> lexical(1.5), lexical("x")
    (('1.5', 'http://www.w3.org/2001/XMLSchema#double'), ('x', ''))
    """
    match value:
        case str():
            return value, ""
        case bool():
            return json.dumps(value), f"{XSD}boolean"
        case int():
            return str(value), f"{XSD}integer"
        case float():
            return repr(value), f"{XSD}double"
        case datetime():
            return value.isoformat(), f"{XSD}dateTime"
        case date():
            return value.isoformat(), f"{XSD}date"
    return None
