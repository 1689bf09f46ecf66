"""Names and descriptions that are literals too: which of them the columns of a table say already.

A literal keeps the property and the language of a name. It is needed only where `rdfs:label`,
`skos:altLabel` or `rdfs:comment` without a language would not say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat, list_rows, numbers
from kgraft.graph.iri_names import PREFIXES, made_labels
from kgraft.graph.literals import LiteralTables
from kgraft.graph.write import Content

_SCHEMA = (PREFIXES["schema"], "https://schema.org/")
_DESCRIBED = (*_SCHEMA, PREFIXES["dcterms"], PREFIXES["dc"])
LABEL, ALIAS, COMMENT = (
    f"{PREFIXES['rdfs']}label",
    f"{PREFIXES['skos']}altLabel",
    f"{PREFIXES['rdfs']}comment",
)
TEXT_FIELDS = {
    LABEL: "label",
    f"{PREFIXES['skos']}prefLabel": "label",
    f"{PREFIXES['foaf']}name": "label",
    ALIAS: "alias",
    COMMENT: "description",
    f"{PREFIXES['skos']}definition": "description",
    **{f"{schema}name": "label" for schema in _SCHEMA},
    **{f"{schema}alternateName": "alias" for schema in _SCHEMA},
    **{f"{vocabulary}description": "description" for vocabulary in _DESCRIBED},
}
_PLAIN = {LABEL: 1, ALIAS: 2, COMMENT: 3}


@dataclass(frozen=True)
class _Texts:
    """Texts of rows of a table: of a description or a name, and how plain statements say it."""

    row: np.ndarray
    is_description: np.ndarray
    kind: np.ndarray  # 1 to 3 for the properties in `_PLAIN`, 0 for any other statement
    value: pa.Array


def without_implied(content: Content) -> Content:
    """Return the content without the literals that its tables of names say already."""
    literals = content.literals
    stays = np.ones(len(literals), bool)
    entity = literals.entity
    for table, of_entity in ((content.entities, True), (content.relations, False)):
        rows, is_literal = _of_literals(literals, (entity >= 0) == of_entity)
        if not is_literal.kind.any():
            continue
        stays[rows[_implied(is_literal, _of_columns(table))]] = False
    if stays.all():
        return content
    kept = np.flatnonzero(stays)
    return replace(content, literals=literals.rows(kept, entity[kept]))


@dataclass(frozen=True)
class Unsaid:
    """Which texts of a table no literal says, and which no reader would make up."""

    label: np.ndarray  # (rows,) bool
    aliases: np.ndarray  # (items of all lists,) bool
    description: np.ndarray  # (rows,) bool


def unsaid_texts(table: pa.Table, literals: LiteralTables, *, of_entity: bool) -> Unsaid:
    """Return which names and descriptions must be written beside the literals."""
    _, implied = _of_literals(literals, (literals.entity >= 0) == of_entity)
    columns = _of_columns(table)
    row_keys, column_keys, _ = _keys(implied, columns)
    unsaid = ~np.isin(column_keys, row_keys)
    label, description = np.zeros((2, len(table)), bool)
    label[columns.row[unsaid & (columns.kind == 1)]] = True
    description[columns.row[unsaid & (columns.kind == 3)]] = True
    return Unsaid(label, unsaid[columns.kind == 2], description)


def _implied(literals: _Texts, columns: _Texts) -> np.ndarray:
    """Return which literals say just what the columns do, in all statements of their text."""
    row_keys, column_keys, count = _keys(literals, columns)
    implied = np.bincount(row_keys[literals.kind == 0], minlength=count) == 0
    for kind in _PLAIN.values():
        stated = np.bincount(row_keys[literals.kind == kind], minlength=count) > 0
        given = np.bincount(column_keys[columns.kind == kind], minlength=count) > 0
        implied &= stated == given
    return implied[row_keys]


def _of_literals(literals: LiteralTables, chosen: np.ndarray) -> tuple[np.ndarray, _Texts]:
    """Return the literals that are texts of the chosen subjects, and which rows they are."""
    properties = literals.properties["id"].to_pylist()
    fields = np.array([TEXT_FIELDS.get(item, "") for item in properties], object)
    property_ = numbers(literals.literals["property"])
    rows = np.flatnonzero((fields != "")[property_] & chosen)
    property_, entity = property_[rows], literals.entity[rows]
    kinds = np.array([_PLAIN.get(item, 0) for item in properties], np.int8)[property_]
    plain = _is_plain(literals)[rows]
    described = (fields == "description")[property_]
    value = flat(literals.literals["value"].take(pa.array(rows)))
    row = np.where(entity >= 0, entity, -1 - entity)
    return rows, _Texts(row, described, np.where(plain, kinds, 0), value)


def _of_columns(table: pa.Table) -> _Texts:
    """Return the texts of a table's columns, without the labels that are made from ids."""
    labels, descriptions = table["label"], table["description"]
    given = np.flatnonzero(numbers(pc.not_equal(labels, made_labels(table["id"]))))
    described = np.flatnonzero(numbers(pc.not_equal(descriptions, "")))
    alias_row, aliases = list_rows(table["aliases"])
    parts = [
        (given, 1, labels.take(pa.array(given))),
        (alias_row, 2, aliases),
        (described, 3, descriptions.take(pa.array(described))),
    ]
    kind = np.concatenate([np.full(len(row), kind, np.int8) for row, kind, _ in parts])
    values = [flat(value).cast(pa.large_string()) for *_, value in parts]
    row = np.concatenate([row for row, *_ in parts])
    return _Texts(row, kind == 3, kind, pa.concat_arrays(values))


def _is_plain(literals: LiteralTables) -> np.ndarray:
    """Return which literals are strings without a datatype, (N,) bool."""
    is_plain = np.array([not item for item in literals.datatypes["id"].to_pylist()], bool)
    return is_plain[numbers(literals.literals["datatype"])]


def _keys(one: _Texts, other: _Texts) -> tuple[np.ndarray, np.ndarray, int]:
    """Return a number for each (row, name or description, text) of both, and how many there are."""
    value = pc.dictionary_encode(pa.concat_arrays([one.value, other.value]))
    row = np.concatenate([one.row, other.row]).astype(np.int64)
    described = np.concatenate([one.is_description, other.is_description])
    pair = (row * 2 + described) << 32 | numbers(value.indices)
    distinct, key = np.unique(pair, return_inverse=True)
    return key[: len(one.row)], key[len(one.row) :], len(distinct)
