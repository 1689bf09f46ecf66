"""What a reader hands to the builder: batches of entities, relations, triples and attributes.

Readers stream: they yield batches of some ten thousand rows in the order of their source and keep
no more than one batch in memory. The builder gives entities their indices in the order in which
they are declared or, where the source declares none, first used.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from kgraft.errors import BadInput
from kgraft.progress import Progress

ROWS = 1 << 16  # rows a reader gathers into one batch

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
PARTS = ("head", "relation", "tail")  # of a triple

LITERAL_TYPE = "\0"  # begins a type given by name in a source whose types are ids

ENTITY_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "label": pa.string(),
        "description": pa.string(),
        "aliases": pa.list_(pa.string()),
        "types": pa.list_(pa.string()),
        "name_counts": pa.list_(pa.int64()),
    }
)
"""Columns of an entity. `name_counts` is parallel to (label, *aliases): how often each name was
seen to mean this entity; null where the source has no counts. Other columns are kept as strings."""

RELATION_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "label": pa.string(),
        "description": pa.string(),
        "aliases": pa.list_(pa.string()),
        "types": pa.list_(pa.string()),
    }
)
"""Columns of a relation; a graph whose relations have no types lacks that column."""


@dataclass(frozen=True)
class Origin:
    """Where the rows of a batch stand: a file, and for each row its line (or None)."""

    file: str
    lines: np.ndarray | None = None  # (rows,) int64, counted from 1

    def line(self, row: int) -> int | None:
        """Return the line of a row."""
        return None if self.lines is None else int(self.lines[row])


@dataclass(frozen=True)
class Entities:
    """One row an entity: the columns of ENTITY_SCHEMA (all but `id` may be left out) and extras."""

    table: pa.Table
    origin: Origin


@dataclass(frozen=True)
class Relations:
    """One row a relation: the columns of RELATION_SCHEMA (all but `id` optional) and extras."""

    table: pa.Table
    origin: Origin


@dataclass(frozen=True)
class Triples:
    """Facts by the ids of their parts, all of one split."""

    head: pa.Array
    relation: pa.Array
    tail: pa.Array
    origin: Origin
    split: Split = "train"


@dataclass(frozen=True)
class Attributes:
    """Texts of entities or relations that arrive one by one and in any order (RDF).

    `field` is label, alias, description, type, name_counts (numbers joined by `|`) or the name of
    an extra column. The label of lowest `rank` becomes the label and the others become aliases
    (that is how a language is preferred); of descriptions and extra columns the lowest rank wins.
    `of` says what the subjects are; None means a relation where some triple uses the subject as
    its relation, else an entity.
    """

    subject: pa.Array
    field: pa.Array
    value: pa.Array
    rank: np.ndarray  # (rows,) int8
    of: Literal["entity", "relation"] | None = None


@dataclass(frozen=True)
class Literals:
    """Values of properties by the ids of their subjects, which need not be declared.

    `datatype` is the IRI of the value's datatype, which for a quantity is its unit; `@` and a
    language tag for a text in a language; `<>` for a link that is not an entity; or empty for a
    plain string. Names and descriptions that are given as attributes too are kept here where their
    property or language would be lost. Without `of`, a subject is a relation where only relations
    have its id.
    """

    subject: pa.Array
    property: pa.Array
    datatype: pa.Array
    value: pa.Array
    of: Literal["entity", "relation"] | None = None
    origin: Origin | None = None  # for sources that refuse what nobody declared


@dataclass(frozen=True)
class PropertyLabels:
    """Labels of properties of literals that neither a relation nor an entity gives."""

    id: pa.Array
    label: pa.Array


Batch = Entities | Relations | Triples | Attributes | Literals | PropertyLabels


@dataclass
class Refusals:
    """Takes the bad rows: raises on the first, or with `skip` counts them and keeps their text."""

    skip: bool = False
    path: Path | None = None  # where the refused lines go; the file is made at the first one
    reasons: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    _file: IO[str] | None = None

    @property
    def count(self) -> int:
        """How many rows were refused."""
        return self.reasons.total()

    def refuse(
        self,
        kind: str,
        *,
        file: str,
        line: int | None,
        detail: str = "",
        remedy: str = "",
        text: str = "",
    ) -> None:
        """Refuse one row: `kind` is the short reason that is counted, `detail` what was seen."""
        reason = f"{kind}: {detail}" if detail else kind
        if not self.skip:
            remedy = remedy or "mend the line, or leave such lines out (--skip-bad)"
            raise BadInput(reason, file=file, line=line, remedy=remedy)
        self.reasons[kind] += 1
        if self.path is not None:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._beside.open("w", encoding="utf-8", errors="backslashreplace")
            text = text.replace("\r", "\\r").replace("\n", "\\n")
            self._file.write(f"{file}:{'' if line is None else line}\t{reason}\t{text}\n")

    def leave_out(self, kind: str, count: int = 1) -> None:
        """Count what is not an error but does not fit a graph (a date, a triple out of scope)."""
        self.left_out[kind] += count

    def note(self, text: str) -> None:
        """Keep for the manifest how something was read; the same is kept once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def _beside(self) -> Path:
        assert self.path is not None
        return self.path.with_name(f"{self.path.name}.partial-{os.getpid()}")

    def __enter__(self) -> Refusals:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the file of refused lines in its place, or drop it where the import failed."""
        if self._file is not None and self.path is not None:
            self._file.close()
            self._file = None
            if kind is None:
                self._beside.replace(self.path)
            else:
                self._beside.unlink()


@runtime_checkable
class HasBlankNodes(Protocol):
    """A source whose nodes may be structure or links instead of entities; see `structure.tidy`."""

    blank_nodes: Literal["fold", "keep", "drop"] | None
    """What becomes of blank nodes; None leaves all nodes as they are."""


class Source(Protocol):
    """A place triples come from. One class per format; `open_source` chooses it."""

    format: str
    unknown: Literal["refuse", "add", "drop"]
    """What happens to a triple that names an entity nobody declared: it is refused, the entity is
    added, or the triple is left out and counted."""
    types_are_ids: bool
    """Whether types are given by id, to be replaced by the label of that entity."""

    def describe(self) -> str:
        """Return where it comes from, for the manifest."""

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield the content; progress counts bytes read."""
