"""Values of properties that RDF gives one by one, gathered into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.graph.batches import Literals
from kgraft.graph.io.rdf.iris import OURS, ids_of

Of = Literal["relation"] | None
Row = tuple[str, str, str, str]


class ValueRows:
    """Rows of literals by the IRIs of their subjects: subject, property, datatype, value.

    Those of some properties `also_texts` are given as attributes too.
    """

    def __init__(self, also_texts: Iterable[str]) -> None:
        self._also_texts = pa.array(also_texts, pa.string())
        self._rows: list[Row] = []

    def add(self, subject: str, property_: str, datatype: str, value: str) -> None:
        """Take one row in."""
        self._rows.append((subject, property_, datatype, value))

    def take(
        self, is_noise: Callable[[pa.Array], pa.Array], *, hold: str = ""
    ) -> tuple[list[Literals], int]:
        """Return the rows, and how many had a subject that is noise and are not texts.

        The rows of the subject `hold` that are not noise stay for the next time.
        """
        if not self._rows:
            return [], 0
        subject, property_, datatype, value = (
            pa.array(column, pa.string()) for column in zip(*self._rows, strict=True)
        )
        noise = numbers(is_noise(subject))
        waiting = numbers(pc.equal(subject, hold)) & ~noise
        self._rows = [self._rows[row] for row in np.flatnonzero(waiting).tolist()]
        texts = numbers(pc.is_in(property_, self._also_texts))
        of_relation = numbers(pc.starts_with(subject, f"{OURS}relation:"))
        columns = ids_of(subject), ids_of(property_), datatype, value
        keep = ~noise & ~waiting
        batches = [
            *_literals(columns, keep & of_relation, "relation"),
            *_literals(columns, keep & ~of_relation, None),
        ]
        return batches, int((noise & ~texts).sum())


def _literals(
    columns: tuple[pa.Array, pa.Array, pa.Array, pa.Array], mask: np.ndarray, of: Of
) -> Iterator[Literals]:
    """Yield the rows of a mask, if there are any."""
    keep = pa.array(mask)
    subject, property_, datatype, value = (column.filter(keep) for column in columns)
    if len(subject):
        yield Literals(subject, property_, datatype, value, of)
