"""Writers: one a format; what is written appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kgraft.errors import BadInput
from kgraft.graph.graph import Graph
from kgraft.graph.writers.arrays import (
    to_edge_index,
    to_labelled_triples,
    to_networkx,
    write_edge_index,
    write_pykeen,
)
from kgraft.graph.writers.jsonl import write_jsonl
from kgraft.graph.writers.ntriples import write_ntriples
from kgraft.graph.writers.parquet import write_parquet
from kgraft.graph.writers.tsv import write_tsv
from kgraft.graph.writers.turtle import write_turtle
from kgraft.progress import Progress, Silent
from kgraft.storage import Kind, new_file, new_folder

__all__ = ["WRITERS", "export_graph", "to_edge_index", "to_labelled_triples", "to_networkx"]


class Writer(NamedTuple):
    """A format: what it writes to, and the function that does."""

    write: Callable[..., None]
    folder: bool
    suffix: str = ""


WRITERS = {
    "tsv": Writer(write_tsv, folder=True),
    "parquet": Writer(write_parquet, folder=True, suffix=".parquet"),
    "ntriples": Writer(write_ntriples, folder=False, suffix=".nt"),
    "turtle": Writer(write_turtle, folder=False, suffix=".ttl"),
    "jsonl": Writer(write_jsonl, folder=False, suffix=".jsonl"),
    "pyg": Writer(write_edge_index, folder=False, suffix=".npz"),
    "pykeen": Writer(write_pykeen, folder=True),
}


EXPORT = Kind("export", "triples.tsv")
_NOT_WRITTEN = (".bz2", ".csv", ".gz", ".json", ".rdf", ".txt", ".xml", ".zip")


def export_graph(
    graph: Graph, target: Path, *, format: str | None = None, progress: Progress | None = None
) -> str:
    """Write a graph in another format, by name or by the target's suffix; return the format."""
    format = format or _format_of(target)
    if format not in WRITERS:
        raise BadInput(f"unknown format {format!r}", remedy=f"formats are {', '.join(WRITERS)}")
    if target.exists():
        raise BadInput(f"{target} exists already", remedy="name another place")
    writer = WRITERS[format]
    beside = new_folder(target, EXPORT) if writer.folder else new_file(target)
    with beside as partial:
        writer.write(graph, partial, progress=progress or Silent())
    return format


def _format_of(target: Path) -> str:
    suffixes = {writer.suffix: name for name, writer in WRITERS.items() if writer.suffix}
    if target.suffix in _NOT_WRITTEN:
        remedy = f"use {', '.join(suffixes)}, or name a format ({', '.join(WRITERS)})"
        raise BadInput(f"{target.suffix} tells no format that is written", remedy=remedy)
    return suffixes.get(target.suffix, "tsv")
