"""JSON Lines: one object an entity, a relation and a triple, in one file."""

from __future__ import annotations

import json
from pathlib import Path

from kgraft.graph.graph import Graph
from kgraft.graph.writers.tsv import ROWS, triple_ids, triple_parts
from kgraft.progress import Progress


def write_jsonl(graph: Graph, path: Path, *, progress: Progress) -> None:
    """Write the whole graph; it imports as the same graph."""
    parts = (
        ("relations", "relation", graph.relations),
        ("entities", "entity", graph.entities),
    )
    with path.open("w", encoding="utf-8") as file:
        for name, kind, table in parts:
            progress.start(f"writing {name}", len(table))
            for batch in table.to_batches(max_chunksize=ROWS):
                for row in batch.to_pylist():
                    filled = {
                        name: value for name, value in row.items() if value not in (None, "", [])
                    }
                    file.write(_line({"kind": kind, **filled}))
                progress.advance(len(batch))
        progress.start("writing triples", len(graph.triples))
        for part, rows in triple_parts(graph):
            split = {} if part == "triples" else {"split": part}
            for columns in triple_ids(graph, rows):
                for head, relation, tail in zip(*(c.to_pylist() for c in columns), strict=True):
                    triple = {"head": head, "relation": relation, "tail": tail}
                    file.write(_line({"kind": "triple", **triple, **split}))
                progress.advance(len(columns[0]))


def _filled(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value not in (None, "", [])}


def _line(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"
