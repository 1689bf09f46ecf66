"""Migration: a graph that an older kgraft wrote, with everything derived from it made again."""

from __future__ import annotations

from pathlib import Path

from kgraft.columns import numbers
from kgraft.errors import BadGraph
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.folder import (
    CONTENT,
    LITERALS,
    SINCE_0_2,
    TABLES,
    Manifest,
    read_older_manifest,
    read_table,
)
from kgraft.graph.graph import Graph
from kgraft.graph.literals import LiteralTables
from kgraft.graph.names.stems import KEYS_VERSION
from kgraft.graph.write import Content, Provenance, write_graph
from kgraft.progress import Progress, Silent
from kgraft.storage import sha256


def is_current(name: str | Path) -> bool:
    """Tell whether a graph has all tables that this kgraft writes, as it writes them."""
    manifest = read_older_manifest(Graph.locate(name))
    listed = {f"{table}.arrow" for table in (*TABLES, *SINCE_0_2)} <= manifest.files.keys()
    return listed and manifest.keys_version == KEYS_VERSION


def migrate_graph(
    name: str | Path,
    target: Path | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """Write a graph as this kgraft writes it, in its place or at a target, and open it.

    Entities, relations, triples and values stay as they are, and so does the version; the tables
    that are derived from them are made again. A graph that is current stays as it is, if no target
    is named.
    """
    folder, progress = Graph.locate(name), progress or Silent()
    if target is None and is_current(folder):
        return Graph.open(folder)
    manifest = read_older_manifest(folder)
    progress.start("checksums", None)
    _verify_content(folder, manifest)
    out, replace = (folder, True) if target is None else (target, overwrite)
    provenance = Provenance(
        name=manifest.name,
        source=manifest.source,
        licence=manifest.licence,
        parent=manifest.parent,
        left_out=manifest.left_out,
        refused=manifest.refused,
        notes=manifest.notes,
    )
    write_graph(out, _read_content(folder), provenance, overwrite=replace, progress=progress)
    return Graph.open(out)


def _read_content(folder: Path) -> Content:
    entities, relations, triples = (read_table(folder, name) for name in CONTENT)
    arrays = (numbers(triples[column]) for column in ("head", "relation", "tail", "split"))
    has_literals = all((folder / f"{name}.arrow").is_file() for name in LITERALS)
    tables = [read_table(folder, name) for name in LITERALS] if has_literals else []
    literals = LiteralTables(*tables) if tables else LiteralTables.empty()
    return Content(entities, relations, TripleArrays(*arrays), literals)


def _verify_content(folder: Path, manifest: Manifest) -> None:
    """Refuse content that is not what was written: it would be given new checksums."""
    for name in (*CONTENT, *LITERALS):
        file = f"{name}.arrow"
        if file in manifest.files and sha256(folder / file) != manifest.files[file]["sha256"]:
            reason = f"{folder / file}: the checksum differs; import the graph again"
            raise BadGraph(reason)
