"""Writing a graph: from its content to the folder with everything derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kgraft.arrays import run_starts
from kgraft.arrow_files import write_table
from kgraft.columns import list_rows, narrow, numbers
from kgraft.graph.adjacency import Adjacency, TripleArrays, build_adjacency, sort_triples
from kgraft.graph.batches import SPLITS
from kgraft.graph.folder import GRAPH, Manifest, content_version, write_manifest
from kgraft.graph.literals import LiteralTables
from kgraft.graph.names.alias_build import Form, Names, build_aliases
from kgraft.graph.names.name_variants import with_spoken
from kgraft.graph.names.stems import KEYS_VERSION
from kgraft.hashing import HashIndex, distinct_hashes, hash_strings
from kgraft.progress import Progress, Silent
from kgraft.storage import describe_file, new_folder


@dataclass(frozen=True)
class Content:
    """All that a graph says; the rest of its folder is derived from this."""

    entities: pa.Table
    relations: pa.Table
    triples: TripleArrays
    literals: LiteralTables = field(default_factory=LiteralTables.empty)


@dataclass(frozen=True)
class Provenance:
    """Where a graph comes from."""

    name: str = ""
    source: str = ""
    licence: str = ""
    parent: str = ""
    left_out: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def write_graph(
    target: Path,
    content: Content,
    provenance: Provenance,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Write a graph folder in one step; an error or a crash leaves nothing behind."""
    progress = progress or Silent()
    with new_folder(target, GRAPH, overwrite=overwrite) as folder:
        manifest = _write(folder, content, provenance, progress)
        write_manifest(folder, manifest)
    return manifest


def _write(folder: Path, content: Content, provenance: Provenance, progress: Progress) -> Manifest:
    entities, relations = len(content.entities), len(content.relations)
    progress.start("sorting triples", None)
    triples = sort_triples(content.triples, entities, relations)
    _write_content(folder, replace(content, triples=triples))
    id_seed, alias_seed = _write_indexes(folder, content.entities, triples, progress)
    files = _describe_files(folder, progress)
    return Manifest(
        entities=entities,
        relations=relations,
        triples=len(triples),
        splits=_split_sizes(triples),
        version=content_version(files),
        name=provenance.name,
        source=provenance.source,
        licence=provenance.licence,
        parent=provenance.parent,
        priors="degree" if _uncounted(content.entities) else "counts",
        alias_seed=alias_seed,
        keys_version=KEYS_VERSION,
        id_seed=id_seed,
        literals=len(content.literals),
        left_out=_with_repeated(provenance.left_out, len(content.triples) - len(triples)),
        refused=provenance.refused,
        notes=provenance.notes,
        files=files,
    )


def _write_content(folder: Path, content: Content) -> None:
    write_table(folder, "entities", content.entities)
    write_table(folder, "relations", content.relations)
    _write_triples(folder, content.triples)
    if len(content.literals):
        literals = content.literals.labelled(content.relations, content.entities)
        for name, table in literals.named().items():
            write_table(folder, name, table)


def _split_sizes(triples: TripleArrays) -> dict[str, int]:
    counts = np.bincount(triples.split, minlength=len(SPLITS)).tolist()
    return dict(zip(SPLITS, counts, strict=True))


def _write_indexes(
    folder: Path, entities: pa.Table, triples: TripleArrays, progress: Progress
) -> tuple[int, int]:
    """Write the adjacency, ids and names; return the seeds of the hashes of ids and of names."""
    _write_adjacency(folder, build_adjacency(triples, len(entities)))
    id_seed = _write_ids(folder, entities["id"])
    tables, alias_seed = name_tables(entities, triples, progress)
    for name, table in tables.items():
        write_table(folder, name, table)
    return id_seed, alias_seed


def _with_repeated(left_out: dict[str, int], repeated: int) -> dict[str, int]:
    """Return what was left out together with the triples that were there already."""
    if not repeated:
        return dict(left_out)
    return {**left_out, "repeated triples": left_out.get("repeated triples", 0) + repeated}


def name_tables(
    entities: pa.Table, triples: TripleArrays, progress: Progress | None = None
) -> tuple[dict[str, pa.Table], int]:
    """Return the tables of all names of a graph, and the seed of their hashes."""
    train = triples if not triples.split.any() else triples.take(triples.split == 0)
    names = with_spoken(entity_names(entities))
    return build_aliases(names, degrees(train, len(entities)), progress)


def _uncounted(entities: pa.Table) -> bool:
    """Tell whether no name comes with a count."""
    return not len(list_rows(entities["name_counts"])[0])


def degrees(triples: TripleArrays, entities: int) -> np.ndarray:
    """Return in how many triples each entity stands, as head or as tail."""
    heads = np.bincount(triples.head, minlength=entities)
    return heads + np.bincount(triples.tail, minlength=entities)


def entity_names(entities: pa.Table) -> Names:
    """Return all labels and then all aliases, with their counts where the table has them."""
    labels = entities["label"]
    row, aliases = list_rows(entities["aliases"])
    name = pa.chunked_array([*labels.chunks, aliases], pa.string())
    entity = np.concatenate([np.arange(len(labels)), row]).astype(np.int32)
    counts = _name_counts(entities["name_counts"], len(labels), row)
    origin = np.zeros(len(entity), np.uint8)
    origin[: len(labels)] = Form.LABEL
    return Names(name, entity, counts, origin)


def _name_counts(counts: pa.ChunkedArray, labels: int, alias_row: np.ndarray) -> np.ndarray:
    """Bring counts, in each row one for the label and then the aliases', in the order of names.

    Names without a count get -1.
    """
    row, values = list_rows(counts)
    seen = numbers(values)
    label = run_starts(row)
    by_label = np.full(labels, -1, np.int64)
    by_label[row[label]] = seen[label]
    by_alias = np.full(len(alias_row), -1, np.int64)
    by_alias[np.isin(alias_row, row[label])] = seen[~label]
    return np.concatenate([by_label, by_alias])


def _write_triples(folder: Path, triples: TripleArrays) -> None:
    columns = {
        "head": triples.head,
        "relation": triples.relation,
        "tail": triples.tail,
        "split": triples.split,
    }
    write_table(folder, "triples", pa.table(columns))


def _write_adjacency(folder: Path, adjacency: Adjacency) -> None:
    write_table(folder, "bounds", pa.table({"start": narrow(adjacency.bounds)}))
    edges = pa.FixedSizeListArray.from_arrays(pa.array(adjacency.edges.ravel()), 2)
    write_table(folder, "edges", pa.table({"relation_other": edges}))


def _write_ids(folder: Path, ids: pa.ChunkedArray) -> int:
    seed, hashes = distinct_hashes(lambda s: (s, hash_strings(ids, s)), lambda made: made[1])
    order = np.argsort(hashes)
    index = HashIndex.build(hashes[order])
    columns = {"hash": index.keys, "entity": order.astype(np.int32)}
    write_table(folder, "ids", pa.table(columns))
    write_table(folder, "id_buckets", pa.table({"start": narrow(index.buckets)}))
    return seed


def _describe_files(folder: Path, progress: Progress) -> dict[str, dict[str, Any]]:
    progress.start("checksums", None)
    return {path.name: describe_file(path) for path in sorted(folder.glob("*.arrow"))}
