"""A full check of a graph folder: checksums, and that every derived table fits the content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from kgraft.columns import flat, numbers
from kgraft.errors import BadGraph
from kgraft.graph.adjacency import build_adjacency
from kgraft.graph.batches import SPLITS
from kgraft.graph.folder import Manifest, content_version, read_manifest
from kgraft.graph.graph import Graph
from kgraft.graph.names.fold import fold_name
from kgraft.progress import Progress, Silent
from kgraft.storage import sha256

_SAMPLE = 200  # entities whose label is looked for in a text


def check_graph(name: str | Path, progress: Progress | None = None) -> list[str]:
    """Return what is wrong with a graph, one line each; an empty list means that all is well."""
    progress = progress or Silent()
    folder = Graph.locate(name)
    manifest = read_manifest(folder)
    progress.start("checksums", len(manifest.files))
    problems = list(_checksums(folder, manifest, progress))
    if problems:
        return problems
    try:
        graph = Graph.open(folder)
    except BadGraph as error:
        return [str(error)]
    checks = (_counts, _triples, _literals, _adjacency, _ids, _aliases)
    progress.start("tables", len(checks))
    for check in checks:
        problems += _guarded(check, graph)
        progress.advance()
    return problems


def _guarded(check: Callable[[Graph], Iterator[str]], graph: Graph) -> list[str]:
    try:
        return list(check(graph))
    except (BadGraph, IndexError, KeyError, ValueError, pa.ArrowException) as error:
        return [f"{check.__name__.strip('_')} cannot be read: {error}"]


def _checksums(folder: Path, manifest: Manifest, progress: Progress) -> Iterator[str]:
    files = manifest.files
    for name, facts in files.items():
        if sha256(folder / name) != facts["sha256"]:
            yield f"{folder / name}: the checksum differs; import the graph again"
        progress.advance()
    if content_version(files) != manifest.version:
        yield "the manifest's version does not fit its checksums; import the graph again"


def _counts(graph: Graph) -> Iterator[str]:
    stored = graph.manifest
    tables = {"entities": graph.entities, "relations": graph.relations, "triples": graph.triples}
    for name, table in tables.items():
        if len(table) != getattr(stored, name):
            yield f"{name}: {len(table)} rows, the manifest says {getattr(stored, name)}"
    counts = np.bincount(graph.triples.split, minlength=len(SPLITS)).tolist()
    if dict(zip(SPLITS, counts, strict=True)) != stored.splits:
        yield f"triples: splits have {counts} rows, the manifest says {stored.splits}"


def _triples(graph: Graph) -> Iterator[str]:
    triples, entities, relations = graph.triples, len(graph.entities), len(graph.relations)
    for name, most in (("head", entities), ("relation", relations), ("tail", entities)):
        column = getattr(triples, name)
        if len(column) and (column.min() < 0 or column.max() >= most):
            yield f"triples: {name} names a row that is not there"
    order = np.lexsort((triples.split, triples.tail, triples.relation, triples.head))
    if (order != np.arange(len(order))).any():
        yield "triples: not in order"


def _literals(graph: Graph) -> Iterator[str]:
    tables = graph.literal_tables
    if len(tables) != graph.manifest.literals:
        yield f"literals: {len(tables)} rows, the manifest says {graph.manifest.literals}"
    entity = tables.entity
    least, most = -len(graph.relations), len(graph.entities)
    if len(entity) and (entity.min() < least or entity.max() >= most):
        yield "literals: a row names an entity that is not there"
    if (np.diff(entity) < 0).any():
        yield "literals: not in order"
    for name, table in (("property", tables.properties), ("datatype", tables.datatypes)):
        column = numbers(tables.literals[name])
        if len(column) and (column.min() < 0 or column.max() >= len(table)):
            yield f"literals: a {name} names a row that is not there"


def _adjacency(graph: Graph) -> Iterator[str]:
    right = build_adjacency(graph.triples, len(graph.entities))
    for name in ("bounds", "edges"):
        if not np.array_equal(getattr(graph.adjacency, name), getattr(right, name)):
            yield f"adjacency: {name} do not fit the triples"


def _ids(graph: Graph) -> Iterator[str]:
    ids = flat(graph.entities["id"])
    if not np.array_equal(graph.indices_of(ids), np.arange(len(ids))):
        yield "ids: the index does not lead to every entity"


def _aliases(graph: Graph) -> Iterator[str]:
    yield from _candidates(graph)
    count = len(graph.entities)
    rows = np.unique(np.linspace(0, count - 1, min(_SAMPLE, count)).astype(np.int64))
    for entity in graph.entities_at(rows):
        aliases = graph.aliases.find(entity.label, overlapping=True).alias.tolist()
        if fold_name(entity.label) not in {"", *(graph.aliases.keys[alias] for alias in aliases)}:
            yield f"aliases: {entity.label!r} is not found in a text"


def _candidates(graph: Graph) -> Iterator[str]:
    candidates = numbers(graph.tables["candidates"]["entity"])
    bounds = numbers(graph.tables["alias_bounds"]["start"])
    if len(candidates) and (candidates.min() < 0 or candidates.max() >= len(graph.entities)):
        yield "aliases: a candidate names an entity that is not there"
    right = bounds[0] == 0 and bounds[-1] == len(candidates) and (np.diff(bounds) > 0).all()
    if not right or len(bounds) != len(graph.aliases) + 1:
        yield "aliases: the candidates do not fit the aliases"
