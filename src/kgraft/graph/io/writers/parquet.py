"""Parquet: entities, relations, triples (by id, with their split) and literals, a file each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kgraft.graph.batches import SPLITS
from kgraft.graph.graph import Graph
from kgraft.graph.io.export import Writer
from kgraft.graph.io.literal_blocks import literal_blocks
from kgraft.graph.io.triple_blocks import triple_ids
from kgraft.graph.io.writers import WRITERS
from kgraft.progress import Progress

_SCHEMA = pa.schema({name: pa.string() for name in ("head", "relation", "tail", "split")})


def write_parquet(graph: Graph, folder: Path, *, progress: Progress) -> None:
    """Write the files; they import as the same graph. Without literals there is no such file."""
    pq.write_table(graph.entities, folder / "entities.parquet")
    pq.write_table(graph.relations, folder / "relations.parquet")
    progress.start("writing triples", len(graph.triples))
    names = pa.array(SPLITS)
    first = 0
    with pq.ParquetWriter(folder / "triples.parquet", _SCHEMA) as writer:
        for columns in triple_ids(graph, np.arange(len(graph.triples))):
            count = len(columns[0])
            split = names.take(pa.array(graph.triples.split[first : first + count]))
            writer.write_table(pa.Table.from_arrays([*columns, split], schema=_SCHEMA))
            progress.advance(count)
            first += count
    if graph.manifest.literals:
        _write_literals(graph, folder / "literals.parquet", progress)


def _write_literals(graph: Graph, path: Path, progress: Progress) -> None:
    progress.start("writing literals", graph.manifest.literals)
    blocks = literal_blocks(graph)
    block = next(blocks)
    with pq.ParquetWriter(path, block.schema) as writer:
        for table in (block, *blocks):
            writer.write_table(table)
            progress.advance(len(table))


WRITERS.register("parquet")(Writer(write_parquet, folder=True, suffix=".parquet"))
