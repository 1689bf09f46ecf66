"""A graph as N-Triples, from which `RdfSource` makes the same graph again.

Relations come first, then entities, each declared and followed by its texts, then the triples. A
triple of the validation or test split is written only as a reified statement that names its split,
so that no other program takes it for a fact to train on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.graph.batches import ROWS, SPLITS
from kgraft.graph.columns import list_rows, lists_from_rows, numbers, string_buffers
from kgraft.graph.graph import Graph
from kgraft.graph.readers.iris import (
    DECLARES,
    FORMAT,
    GRAPH,
    NAME_COUNTS,
    RDF,
    RDFS,
    SKOS,
    SPLIT,
    iris_of,
    own_iri,
)
from kgraft.progress import Progress

ALIAS = f"{SKOS}altLabel"
TEXTS = {"label": f"{RDFS}label", "description": f"{RDFS}comment"}
FIRST = ("label", "description", "aliases", "types", "name_counts")
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
Named = Literal["entity", "relation"]


def write_ntriples(graph: Graph, path: Path, *, progress: Progress) -> None:
    """Write the whole graph; it imports as the same graph."""
    with path.open("wb") as out:
        out.write(f'<{GRAPH}> <{FORMAT}> "1" .\n'.encode())
        for text in _content(graph, progress):
            _write(out, text)


def _content(graph: Graph, progress: Progress) -> Iterator[pa.Array]:
    entities, relations, triples = graph.entities, graph.relations, graph.triples
    total = len(relations) + len(entities) + len(triples.head)
    progress.start("writing statements", total)
    # One IRI cannot be both, so where an entity and a relation share an id both get one of ours.
    shared = _shared(entities["id"], relations["id"])
    relation_iris = _iris(relations["id"], "relation", shared)
    entity_iris = _iris(entities["id"], "entity", shared)
    yield from _described(relations, relation_iris, "relation", progress)
    yield from _described(entities, entity_iris, "entity", progress)
    for start in range(0, len(triples.head), ROWS):
        rows = slice(start, start + ROWS)
        head, tail = (entity_iris.take(end[rows]) for end in (triples.head, triples.tail))
        relation, split = relation_iris.take(triples.relation[rows]), triples.split[rows]
        plain = pa.array(split == 0)
        yield _statement(head.filter(plain), relation.filter(plain), tail.filter(plain))
        for number in np.flatnonzero(np.isin(np.arange(len(SPLITS)), split[split > 0])):
            marked = np.flatnonzero(split == number)
            parts = (column.take(marked) for column in (head, relation, tail))
            yield _reified(marked + start, SPLITS[number], *parts)
        progress.advance(len(split))


def _shared(entities: pa.ChunkedArray, relations: pa.ChunkedArray) -> set[str]:
    both = pc.is_in(entities, relations.combine_chunks())
    return set(entities.filter(both).to_pylist())


def _iris(ids: pa.ChunkedArray, kind: Named, shared: set[str]) -> pa.Array:
    """Return the ids as IRIs in angle brackets."""
    blocks = [_strings(ids.slice(start, ROWS)) for start in range(0, len(ids), ROWS)]
    iris = [iris_of(block, kind, own=shared) for block in blocks]
    wide = [_join("<", block, ">").cast(pa.large_string()) for block in iris]
    return pa.concat_arrays(wide) if wide else pa.array([], pa.large_string())


def _described(
    table: pa.Table, iris: pa.Array, kind: Named, progress: Progress
) -> Iterator[pa.Array]:
    """Yield blocks with all that is said about each row."""
    declaration = next(iri for iri, declared in DECLARES.items() if declared == kind)
    columns = set(table.column_names) - {"id"}
    for start in range(0, len(table), ROWS):
        block, subject = table.slice(start, ROWS), iris.slice(start, ROWS).cast(pa.string())
        names = [n for n in dict.fromkeys([*FIRST, *table.column_names]) if n in columns]
        texts = [_column(name, block[name], subject, first=start == 0) for name in names]
        yield _join(_statement(subject, f"<{RDF}type>", f"<{declaration}>"), *texts)
        progress.advance(len(block))


def _column(name: str, values: pa.ChunkedArray, subject: pa.Array, *, first: bool) -> pa.Array:
    """Return the statements that hold a column, one string a row."""
    if pa.types.is_list(values.type):
        counts = name == "name_counts"
        return _counted(values, subject) if counts else _listed(name, values, subject)
    texts = _strings(values)
    said = numbers(pc.fill_null(pc.not_equal(texts, ""), False))
    if first and name not in TEXTS and len(said):
        said[0] = True  # an empty value for the first row keeps an empty column
    literals = _literal(pc.fill_null(texts, ""))
    predicate = TEXTS.get(name) or own_iri(name, "column")
    return pc.if_else(pa.array(said), _statement(subject, f"<{predicate}>", literals), "")


def _counted(values: pa.ChunkedArray, subject: pa.Array) -> pa.Array:
    texts = [None if row is None else "|".join(map(str, row)) for row in values.to_pylist()]
    lines = _statement(subject, f"<{NAME_COUNTS}>", _literal(pa.array(texts, pa.string())))
    return pc.fill_null(lines, "")


def _listed(name: str, values: pa.ChunkedArray, subject: pa.Array) -> pa.Array:
    row, items = list_rows(values)
    items, owner = _strings(items), subject.take(pa.array(row))
    if name == "aliases":
        lines = _statement(owner, f"<{ALIAS}>", _literal(items))
    else:
        lines = _statement(owner, f"<{RDF}type>", _join("<", iris_of(items, "type"), ">"))
    return pc.binary_join(lists_from_rows(row, lines, len(subject)), "")


def _reified(
    rows: np.ndarray, split: str, head: pa.Array, relation: pa.Array, tail: pa.Array
) -> pa.Array:
    node = _join("_:s", pa.array(rows).cast(pa.string()))
    parts = (("subject", head), ("predicate", relation), ("object", tail))
    return _join(
        _statement(node, f"<{SPLIT}>", f'"{split}"'),
        _statement(node, f"<{RDF}type>", f"<{RDF}Statement>"),
        *(_statement(node, f"<{RDF}{name}>", column) for name, column in parts),
    )


def _statement(subject: pa.Array, predicate: pa.Array | str, value: pa.Array | str) -> pa.Array:
    return _join(subject, " ", predicate, " ", value, " .\n")


def _literal(texts: pa.Array) -> pa.Array:
    for character, escaped in ESCAPES.items():
        texts = pc.replace_substring(texts, character, escaped)
    return _join('"', texts, '"')


def _join(*parts: pa.Array | str) -> pa.Array:
    strings = [p.cast(pa.string()) if isinstance(p, pa.Array) else p for p in parts]
    return pc.binary_join_element_wise(*strings, "")


def _strings(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())


def _write(out: BinaryIO, texts: pa.Array) -> None:
    octets, _ = string_buffers(texts)
    out.write(octets.tobytes())
