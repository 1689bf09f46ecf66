r"""TSV: a folder of entities, relations, triples and literals that imports as the same graph.

What would break a line or a cell is written by its number: tabs as \u0009, `|` in lists as \u007C.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import escape_cells, flat, numbers
from kgraft.graph.graph import Graph
from kgraft.graph.io.export import Writer
from kgraft.graph.io.literal_blocks import ROWS, literal_blocks
from kgraft.graph.io.triple_blocks import triple_ids, triple_parts, write_lines
from kgraft.graph.io.writers import WRITERS
from kgraft.progress import Progress


def _write_table(table: pa.Table, path: Path, progress: Progress) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        names = escape_cells(pa.array(table.column_names, pa.string())).to_pylist()
        file.write("\t".join(names) + "\n")
        for batch in table.to_batches(max_chunksize=ROWS):
            write_lines(file, [_cell(column) for column in batch.columns])
            progress.advance(len(batch))


def write_tsv(graph: Graph, folder: Path, *, progress: Progress) -> None:
    """Write entities.tsv, relations.tsv, triples.tsv or one file a split, and literals.tsv."""
    for name, table in (("entities", graph.entities), ("relations", graph.relations)):
        table = _without_empty_counts(table)
        progress.start(f"writing {name}", len(table))
        _write_table(table, folder / f"{name}.tsv", progress)
    progress.start("writing triples", len(graph.triples))
    for name, rows in triple_parts(graph):
        with (folder / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
            file.write("head\trelation\ttail\n")
            for columns in triple_ids(graph, rows):
                write_lines(file, [escape_cells(column) for column in columns])
                progress.advance(len(columns[0]))
    if graph.manifest.literals:
        _write_literals(graph, folder / "literals.tsv", progress)


def _write_literals(graph: Graph, path: Path, progress: Progress) -> None:
    progress.start("writing literals", graph.manifest.literals)
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, block in enumerate(literal_blocks(graph)):
            if number == 0:
                file.write("\t".join(block.column_names) + "\n")
            write_lines(file, [escape_cells(flat(column)) for column in block.columns])
            progress.advance(len(block))


def _without_empty_counts(table: pa.Table) -> pa.Table:
    if "name_counts" in table.column_names and table["name_counts"].null_count == len(table):
        return table.drop_columns("name_counts")
    return table


def _cell(column: pa.Array) -> pa.Array:
    if not pa.types.is_list(column.type):
        return escape_cells(column)
    items = escape_cells(column.flatten().cast(pa.string()))
    items = pc.replace_substring(items, "|", "\\u007C")
    sizes = numbers(pc.fill_null(pc.list_value_length(column), 0))
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(bounds), items), "|")


WRITERS.register("tsv")(Writer(write_tsv, folder=True))
