"""JSON Lines: one object per entity, relation, triple and literal, in one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from kgraft.errors import BadInput
from kgraft.graph.graph import Graph
from kgraft.graph.io.export import Writer
from kgraft.graph.io.literal_blocks import ROWS, literal_blocks
from kgraft.graph.io.triple_blocks import triple_ids, triple_parts
from kgraft.graph.io.writers import WRITERS
from kgraft.json_text import to_json
from kgraft.progress import Progress


def write_jsonl(graph: Graph, path: Path, *, progress: Progress) -> None:
    """Write the whole graph; it imports as the same graph."""
    parts = (
        ("relations", "relation", graph.relations),
        ("entities", "entity", graph.entities),
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        for name, kind, table in parts:
            _refuse_kind(table, name)
            progress.start(f"writing {name}", len(table))
            for row in _rows(table, progress):
                file.write(_line({"kind": kind, **row}))
        for triple in _triples(graph, progress):
            file.write(_line({"kind": "triple", **triple}))
        for literal in _literals(graph, progress):
            file.write(_line({"kind": "literal", **literal}))


def _triples(graph: Graph, progress: Progress) -> Iterator[dict[str, object]]:
    """Yield the triples, with their split where there are several."""
    progress.start("writing triples", len(graph.triples))
    for part, rows in triple_parts(graph):
        split = {} if part == "triples" else {"split": part}
        for columns in triple_ids(graph, rows):
            for head, relation, tail in zip(*(c.to_pylist() for c in columns), strict=True):
                yield {"head": head, "relation": relation, "tail": tail, **split}
            progress.advance(len(columns[0]))


def _literals(graph: Graph, progress: Progress) -> Iterator[dict[str, object]]:
    """Yield what is filled of every literal; its value is there even where it is empty."""
    progress.start("writing literals", graph.manifest.literals)
    for block in literal_blocks(graph):
        for row in block.to_pylist():
            yield {name: text for name, text in row.items() if text or name == "value"}
        progress.advance(len(block))


def _refuse_kind(table: pa.Table, name: str) -> None:
    if "kind" in table.column_names:
        reason = f"the {name} have a column 'kind', which has another meaning in JSON Lines"
        raise BadInput(reason, remedy="export as tsv, parquet or ntriples")


def _rows(table: pa.Table, progress: Progress) -> Iterator[dict[str, object]]:
    """Yield what is filled of every row; the first keeps its empty texts, to name all columns."""
    left_out: tuple[object, ...] = (None, [])
    for batch in table.to_batches(max_chunksize=ROWS):
        for row in batch.to_pylist():
            yield {name: value for name, value in row.items() if value not in left_out}
            left_out = (None, [], "")
        progress.advance(len(batch))


def _line(fields: dict[str, object]) -> str:
    return to_json(fields) + "\n"


WRITERS.register("jsonl")(Writer(write_jsonl, folder=False, suffix=".jsonl"))
