"""The triples of a graph as blocks of ids, and blocks as lines of TSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat
from kgraft.graph.batches import SPLITS
from kgraft.graph.graph import Graph
from kgraft.graph.io.literal_blocks import ROWS


def triple_parts(graph: Graph) -> list[tuple[str, np.ndarray]]:
    """Return the name of each file of triples and its rows: one a split where there are splits."""
    split = graph.triples.split
    if not split.any():
        return [("triples", np.arange(len(split)))]
    return [(name, np.flatnonzero(split == code)) for code, name in enumerate(SPLITS)]


def triple_ids(graph: Graph, rows: np.ndarray) -> Iterator[tuple[pa.Array, pa.Array, pa.Array]]:
    """Yield head, relation and tail ids of triples, block by block."""
    entities, relations = graph.entities["id"], graph.relations["id"]
    for first in range(0, len(rows), ROWS):
        block = graph.triples.take(rows[first : first + ROWS])
        head, tail = (flat(entities.take(pa.array(part))) for part in (block.head, block.tail))
        yield head, flat(relations.take(pa.array(block.relation))), tail


def write_lines(file: IO[str], columns: list[pa.Array]) -> None:
    """Write one line per row, tabs between the columns."""
    lines = pc.binary_join_element_wise(*columns, "\t")
    file.write("".join(line + "\n" for line in lines.to_pylist()))
