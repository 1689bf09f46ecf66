"""Exports: a graph in another format, which appears as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kgraft.errors import BadInput
from kgraft.graph.graph import Graph
from kgraft.graph.io.writers import WRITERS
from kgraft.progress import Progress, Silent
from kgraft.storage import Kind, new_file, new_folder

EXPORT = Kind("export", "triples.tsv")
_NOT_WRITTEN = (".bz2", ".csv", ".gz", ".json", ".rdf", ".txt", ".xml", ".zip")


class Writer(NamedTuple):
    """A format to export: the function that writes it, to a folder or to a file of a suffix."""

    write: Callable[..., None]
    folder: bool
    suffix: str = ""


def export_graph(
    graph: Graph, target: Path, *, format: str | None = None, progress: Progress | None = None
) -> str:
    """Write a graph in another format, by name or by the target's suffix; return the format."""
    format = format or _format_of(target)
    writer = WRITERS[format]
    if target.exists():
        raise BadInput(f"{target} exists already", remedy="name another place")
    partial_target = new_folder(target, EXPORT) if writer.folder else new_file(target)
    with partial_target as partial:
        writer.write(graph, partial, progress=progress or Silent())
    return format


def _format_of(target: Path) -> str:
    writers = {name: WRITERS[name] for name in WRITERS}
    suffixes = {writer.suffix: name for name, writer in writers.items() if writer.suffix}
    if target.suffix in _NOT_WRITTEN:
        remedy = f"use {', '.join(suffixes)}, or name a format ({', '.join(writers)})"
        raise BadInput(f"no format is written to {target.suffix} files", remedy=remedy)
    return suffixes.get(target.suffix, "tsv")
