"""Names, descriptions and types that RDF gives one by one, gathered into batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.graph.batches import Attributes
from kgraft.graph.io.rdf.iris import OURS, WIKIDATA_PROPERTY, ids_of

Of = Literal["entity", "relation"] | None

OF: tuple[Of, ...] = (None, "relation", "entity")
PREFIXES = {"relation": (f"{OURS}relation:", WIKIDATA_PROPERTY), "entity": (f"{OURS}entity:",)}


class Ranks(dict[str | None, int]):
    """Rank of a language: the preferred one, no tag, its kin and `mul`, English, any other.

    >>> ranks = Ranks("de")
    >>> [ranks[tag] for tag in ("de", None, "de-AT", "en", "fr")]
    [0, 1, 2, 3, 4]
    """

    def __init__(self, lang: str) -> None:
        super().__init__({None: 1})
        self._lang = lang.lower()

    def __missing__(self, tag: str | None) -> int:
        low = (tag or "").lower()
        kin = low == "mul" or low.split("-")[0] == self._lang.split("-")[0]
        self[tag] = 0 if low == self._lang else 2 if kin else 3 if low == "en" else 4
        return self[tag]


class TextRows:
    """Rows of attributes by the IRIs of their subjects."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._subjects: list[str] = []
        self._fields: list[str] = []
        self._values: list[str] = []
        self._ranks: list[int] = []
        self._of: list[int] = []
        self._labels: dict[tuple[str, str], int] = {}

    def add(self, subject: str, field: str, value: str, rank: int, of: Of = None) -> None:
        """Take one row in; a label that stands there already only gets the better rank."""
        if field == "label":
            row = self._labels.setdefault((subject, value), len(self._subjects))
            if row < len(self._subjects):
                self._ranks[row] = min(rank, self._ranks[row])
                return
        self._subjects.append(subject)
        self._fields.append(field)
        self._values.append(value)
        self._ranks.append(rank)
        self._of.append(OF.index(of))

    @property
    def last_subject(self) -> str:
        """The subject of the row that came last."""
        return self._subjects[-1] if self._subjects else ""

    def take(
        self, is_noise: Callable[[pa.Array], pa.Array], *, hold: str = ""
    ) -> tuple[list[Attributes], int]:
        """Return the rows by what their subjects are, and how many had a subject that is noise.

        The rows of the subject `hold` that are not noise stay for the next time.
        """
        if not self._subjects:
            return [], 0
        subjects = pa.array(self._subjects, pa.string())
        of = self._kinds(subjects)
        of[numbers(pc.equal(subjects, hold))] = -2
        of[numbers(is_noise(subjects))] = -1
        ids, field, value = ids_of(subjects), pa.array(self._fields), pa.array(self._values)
        ranks = np.array(self._ranks, np.int8)
        self._keep(np.flatnonzero(of == -2))
        batches = [
            _attributes((ids, field, value), ranks, rows, OF[code])
            for code in (1, 2, 0)
            if len(rows := np.flatnonzero(of == code))
        ]
        return batches, int((of == -1).sum())

    def _keep(self, rows: np.ndarray) -> None:
        columns = self._subjects, self._fields, self._values, self._ranks, self._of
        kept = [[column[row] for column in columns] for row in rows.tolist()]
        self._clear()
        for subject, field, value, rank, of in kept:
            self.add(subject, field, value, rank, OF[of])

    def _kinds(self, subjects: pa.Array) -> np.ndarray:
        of = np.array(self._of, np.int8)
        for kind, prefixes in PREFIXES.items():
            for prefix in prefixes:
                mask = numbers(pc.starts_with(subjects, prefix))
                of[mask & (of == 0)] = 1 if kind == "relation" else 2
        return of


def _attributes(
    columns: tuple[pa.Array, pa.Array, pa.Array], ranks: np.ndarray, rows: np.ndarray, of: Of
) -> Attributes:
    """Return some rows of ids, fields and values."""
    chosen = pa.array(rows)
    entity, field, value = (column.take(chosen) for column in columns)
    return Attributes(entity, field, value, rank=ranks[rows], of=of)
