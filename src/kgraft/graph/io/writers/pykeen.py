"""PyKEEN: the triples of each split as a text file without a header."""

from __future__ import annotations

from pathlib import Path

from kgraft.columns import escape_cells
from kgraft.graph.graph import Graph
from kgraft.graph.io.export import Writer
from kgraft.graph.io.triple_blocks import triple_ids, triple_parts, write_lines
from kgraft.graph.io.writers import WRITERS
from kgraft.progress import Progress


def write_pykeen(graph: Graph, folder: Path, *, progress: Progress) -> None:
    """Write train.txt, valid.txt and test.txt as PyKEEN's `PathDataset` reads them: no header.

    Tabs and line breaks in ids are escaped as in our TSV.
    """
    progress.start("writing triples", len(graph.triples))
    for name, rows in triple_parts(graph):
        name = "train" if name == "triples" else name
        with (folder / f"{name}.txt").open("w", encoding="utf-8", newline="") as file:
            for columns in triple_ids(graph, rows):
                write_lines(file, [escape_cells(column) for column in columns])
                progress.advance(len(columns[0]))


WRITERS.register("pykeen")(Writer(write_pykeen, folder=True))
