"""Arrow tables as files: equal content makes equal files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

_ROWS = 1 << 18  # rows of an Arrow batch


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write one table in batches of one size, so that equal content makes equal files.

    Numbers go into one batch, so that they map to one flat array.
    """
    pieces: Iterable[pa.Table]
    if any(_has_text(column.type) for column in table.columns):
        pieces = (_copied(table.slice(first, _ROWS)) for first in range(0, len(table), _ROWS))
    else:
        pieces = [table.combine_chunks()]
    path = str(folder / f"{name}.arrow")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        for piece in pieces:
            writer.write_table(piece)


def _copied(table: pa.Table) -> pa.Table:
    """Return a table in one piece; a mere slice would be written with bytes of its neighbours."""
    return table.take(pa.array(np.arange(len(table)))).combine_chunks()


def _has_text(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
