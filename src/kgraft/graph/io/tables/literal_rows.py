"""Tables of literals: a value of an entity's property per row, as our exports write them.

The columns are entity, property, value, datatype and language. `datatype` is an IRI, for a quantity
that of its unit, or `@id` for a link; it is empty for a plain string and for a text in a language.
A row about a relation has its id in a column `relation` instead of `entity`; a column
`property_label` may give labels of properties that are neither relations nor entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Literals, Origin, PropertyLabels, Refusals
from kgraft.graph.literals import LINK, lexical

NEEDED = ("entity", "property", "value")
COLUMNS = (*NEEDED, "datatype", "language", "relation", "property_label")
LINK_NAME = "@id"  # what a link is called in the column of datatypes, as in JSON-LD


def check_columns(names: Sequence[str], file: str) -> None:
    """Refuse a table without the columns of literals."""
    for name in NEEDED:
        if list(names).count(name) != 1:
            shown = " ".join(" | ".join(names).split())[:200]
            raise BadInput(
                f"literals need one column {name!r}; the columns are: {shown}",
                file=file,
                remedy="name the columns entity, property, value, datatype, language",
            )


SUBJECTS: tuple[Literal["entity", "relation"], ...] = ("entity", "relation")


def literal_batches(
    columns: Mapping[str, pa.Array], origin: Origin, refusals: Refusals
) -> Iterator[Batch]:
    """Yield rows, given as columns of texts; those that cannot be are refused."""
    rows = len(columns["value"])
    none = pa.repeat(pa.scalar(""), rows)
    texts = {name: pc.fill_null(columns.get(name, none), "") for name in COLUMNS}
    given = {name: numbers(pc.not_equal(texts[name], "")) for name in COLUMNS}
    good = ~_refused(texts, given, origin, refusals)
    yield from _labels(texts, given["property_label"] & good)
    datatype = _datatypes(texts, given["language"])
    for of in SUBJECTS:
        chosen = np.flatnonzero(given[of] & good)
        if not len(chosen):
            continue
        keep = pa.array(chosen)
        parts = (texts[of], texts["property"], datatype, texts["value"])
        subject, property_, kind, value = (part.take(keep) for part in parts)
        yield Literals(subject, property_, kind, value, of, _of_rows(origin, chosen))


def _of_rows(origin: Origin, rows: np.ndarray) -> Origin:
    return Origin(origin.file, None if origin.lines is None else origin.lines[rows])


def _refused(
    texts: Mapping[str, pa.Array],
    given: Mapping[str, np.ndarray],
    origin: Origin,
    refusals: Refusals,
) -> np.ndarray:
    """Return which rows cannot be, each of which is refused for the first reason that applies."""
    odd = numbers(pc.starts_with(texts["datatype"], "@"))
    odd = odd & numbers(pc.not_equal(texts["datatype"], LINK_NAME))
    reasons = {
        "a value needs an entity or a relation, one of them": given["entity"] == given["relation"],
        "empty property": ~given["property"],
        "a value has a datatype or a language, not both": given["datatype"] & given["language"],
        "a datatype is an IRI or @id; a language has a column of its own": odd,
    }
    bad = np.zeros(len(odd), bool)
    for reason, mask in reasons.items():
        for row in np.flatnonzero(mask & ~bad).tolist():
            text = "\t".join(column[row].as_py() for column in texts.values())
            refusals.refuse(reason, file=origin.file, line=origin.line(row), text=text)
        bad |= mask
    return bad


def _datatypes(texts: Mapping[str, pa.Array], has_language: np.ndarray) -> pa.Array:
    """Return datatypes as `literals` has them: with marks of links, and languages behind `@`."""
    datatype = pc.if_else(pc.equal(texts["datatype"], LINK_NAME), LINK, texts["datatype"])
    language = pc.binary_join_element_wise("@", texts["language"], "")
    return pc.if_else(pa.array(has_language), language, datatype)


def _labels(texts: Mapping[str, pa.Array], given: np.ndarray) -> Iterator[PropertyLabels]:
    if given.any():
        keep = pa.array(given)
        yield PropertyLabels(texts["property"].filter(keep), texts["property_label"].filter(keep))


def count_others(columns: Mapping[str, pa.Array], names: Sequence[str], refusals: Refusals) -> None:
    """Count what stands in columns that literals do not have."""
    for name in names:
        if name not in COLUMNS:
            column = columns[name]
            filled = len(column) - column.null_count
            if pa.types.is_string(column.type):
                filled = int(numbers(pc.fill_null(pc.not_equal(column, ""), False)).sum())
            if filled:
                refusals.leave_out(f"values of the column {name!r} of literals", filled)


def typed_columns(table: pa.Table) -> dict[str, pa.Array]:
    """Return the columns of a table as texts; values that are not texts get a datatype.

    A row with a datatype of its own keeps it.
    """
    columns = {
        name: table[name].cast(pa.string()).combine_chunks()
        for name in COLUMNS
        if name in table.column_names and name != "value"
    }
    values = table["value"].to_pylist()
    given = [None] * len(values) if "datatype" not in columns else columns["datatype"].to_pylist()
    made = [lexical(value) if value is not None else ("", "") for value in values]
    for value, pair in zip(values, made, strict=True):
        if pair is None:
            raise BadInput(
                f"a value is neither text, number, date nor boolean: {str(value)[:80]!r}",
                remedy="write it as a text",
            )
    pairs = [pair for pair in made if pair is not None]
    datatypes = [own or kind for own, (_, kind) in zip(given, pairs, strict=True)]
    columns["datatype"] = pa.array(datatypes, pa.string())
    columns["value"] = pa.array([text for text, _ in pairs], pa.string())
    return columns
