"""Graphs of which some is taken away or added before they are built, to measure what is left."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from kgraft.graph import Graph, build_graph, open_source

Table = list[list[str]]
"""Rows of cells, the names of the columns first."""


def altered_graph(
    source: Path, folder: Path, changes: Mapping[str, Callable[[Table], Iterable[list[str]]]]
) -> Graph:
    """Open a graph that is built, if it is not there, of the files in `source`.

    `changes` are by the names of the tables: what comes into the graph in place of their rows.
    """
    if not folder.exists():
        copy = folder.with_name(f"{folder.name}.source")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy)
        for name, change in changes.items():
            path = copy / f"{name}.tsv"
            lines = ["\t".join(row) for row in change(read_table(path))]
            path.write_text("\n".join([*lines, ""]), "utf-8")
        build_graph(open_source(copy), folder, name=folder.name)
        shutil.rmtree(copy)
    return Graph.open(folder)


def read_table(path: Path) -> Table:
    """Read a table of tab-separated cells."""
    return [line.split("\t") for line in path.read_text("utf-8").split("\n") if line]
