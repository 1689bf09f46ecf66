r"""TSV: a folder of entities, relations, triples and literals that imports as the same graph.

What would break a line or a cell is written by its number: tabs as \u0009, `|` in lists as \u007C.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.graph.batches import SPLITS
from kgraft.graph.columns import flat, numbers
from kgraft.graph.graph import Graph
from kgraft.graph.writers.literals import ROWS, literal_blocks
from kgraft.progress import Progress

_ESCAPES = {"\t": "\\u0009", "\n": "\\u000A", "\r": "\\u000D"}


def write_tsv(graph: Graph, folder: Path, *, progress: Progress) -> None:
    """Write entities.tsv, relations.tsv, triples.tsv or one file a split, and literals.tsv."""
    for name, table in (("entities", graph.entities), ("relations", graph.relations)):
        table = _without_empty_counts(table)
        progress.start(f"writing {name}", len(table))
        with (folder / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
            names = escaped(pa.array(table.column_names, pa.string())).to_pylist()
            file.write("\t".join(names) + "\n")
            for batch in table.to_batches(max_chunksize=ROWS):
                write_lines(file, [_cell(column) for column in batch.columns])
                progress.advance(len(batch))
    progress.start("writing triples", len(graph.triples))
    for name, rows in triple_parts(graph):
        with (folder / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
            file.write("head\trelation\ttail\n")
            for columns in triple_ids(graph, rows):
                write_lines(file, [escaped(column) for column in columns])
                progress.advance(len(columns[0]))
    if graph.manifest.literals:
        _write_literals(graph, folder / "literals.tsv", progress)


def _write_literals(graph: Graph, path: Path, progress: Progress) -> None:
    progress.start("writing literals", graph.manifest.literals)
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, block in enumerate(literal_blocks(graph)):
            if number == 0:
                file.write("\t".join(block.column_names) + "\n")
            write_lines(file, [escaped(flat(column)) for column in block.columns])
            progress.advance(len(block))


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
        some = graph.triples.take(rows[first : first + ROWS])
        head, tail = (flat(entities.take(pa.array(part))) for part in (some.head, some.tail))
        yield head, flat(relations.take(pa.array(some.relation))), tail


def _without_empty_counts(table: pa.Table) -> pa.Table:
    if "name_counts" in table.column_names and table["name_counts"].null_count == len(table):
        return table.drop_columns("name_counts")
    return table


def _cell(column: pa.Array) -> pa.Array:
    if not pa.types.is_list(column.type):
        return escaped(column)
    items = escaped(column.flatten().cast(pa.string()))
    items = pc.replace_substring(items, "|", "\\u007C")
    sizes = numbers(pc.fill_null(pc.list_value_length(column), 0))
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(bounds), items), "|")


def escaped(column: pa.Array) -> pa.Array:
    """Return texts with what would break a line or a cell escaped."""
    column = pc.replace_substring_regex(column, r'\\([uU"])', r"\\u005C\1")  # else an escape
    for character, escape in _ESCAPES.items():
        column = pc.replace_substring(column, character, escape)
    return column


def write_lines(file: IO[str], columns: list[pa.Array]) -> None:
    """Write one line a row, tabs between the columns."""
    lines = pc.binary_join_element_wise(*columns, "\t")
    file.write("".join(line + "\n" for line in lines.to_pylist()))
