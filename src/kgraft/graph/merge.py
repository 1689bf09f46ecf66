"""Merge: several graphs as one; entities of the same id, or of one exact label, are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.arrays import run_starts
from kgraft.columns import flat, list_rows, lists_from_rows, numbers
from kgraft.errors import BadInput
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.folder import GRAPH
from kgraft.graph.graph import Graph
from kgraft.graph.literals import LiteralTables, make_tables
from kgraft.graph.write import Content, Provenance, write_graph
from kgraft.progress import Progress, Silent
from kgraft.storage import refuse_existing


@dataclass(frozen=True)
class Merge:
    """A merged graph, and how many of its entities come from several of the graphs."""

    graph: Graph
    same_id: int  # entities that were joined because their ids are the same
    same_label: int  # entities that were joined because their labels are the same
    ambiguous_labels: int  # labels that several entities of one graph share: left apart


def merge_graphs(
    graphs: Sequence[Graph],
    target: Path,
    *,
    match_labels: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Merge:
    """Write several graphs as one; what two of them say differently is taken from the first.

    Entities and relations of the same id are one. With `match_labels`, so are an entity of one
    graph and an entity of a later one that have the same label, unless the label is ambiguous
    in either. Aliases and types are united, and the label of a joined entity becomes an alias.
    """
    if len(graphs) < 2:
        raise BadInput(f"merging needs at least two graphs; got {len(graphs)}")
    refuse_existing(target, GRAPH, overwrite=overwrite)
    progress = progress or Silent()
    progress.start("merging", None)
    graphs = [graph.whole() for graph in graphs]
    entities = _Union([graph.entities for graph in graphs], match_labels=match_labels)
    relations = _Union([graph.relations for graph in graphs])
    content = Content(
        _merged_table([graph.entities for graph in graphs], entities.indices),
        _merged_table([graph.relations for graph in graphs], relations.indices),
        _merged_triples(graphs, entities.indices, relations.indices),
        _merged_literals(graphs, entities.indices, relations.indices),
    )
    write_graph(
        target, content, _provenance(graphs, target), overwrite=overwrite, progress=progress
    )
    return Merge(
        Graph.open(target), entities.same_id, entities.same_label, entities.ambiguous_labels
    )


def _provenance(graphs: Sequence[Graph], target: Path) -> Provenance:
    manifests = [graph.manifest for graph in graphs]
    licences = dict.fromkeys(manifest.licence for manifest in manifests if manifest.licence)
    return Provenance(
        name=target.name,
        source=" + ".join(manifest.source for manifest in manifests),
        licence="; ".join(licences),
        parent=", ".join(manifest.version for manifest in manifests),
        left_out=dict(sum((Counter(m.left_out) for m in manifests), Counter())),
        refused=dict(sum((Counter(m.refused) for m in manifests), Counter())),
    )


class _Union:
    """The index that each row of several tables gets in the merged one."""

    def __init__(self, tables: Sequence[pa.Table], *, match_labels: bool = False) -> None:
        self.same_id = self.same_label = self.ambiguous_labels = 0
        self.indices: list[np.ndarray] = []
        ids, labels = pa.array([], pa.string()), pa.array([], pa.string())
        self._id_indices = np.zeros(0, np.int64)  # of the ids so far, several may be one entity
        self._count = 0
        for table in tables:
            own, own_labels = (flat(table[name]).cast(pa.string()) for name in ("id", "label"))
            index = self._match_ids(own, ids)
            if match_labels and self._count:
                self._match_labels(index, own_labels, labels)
            self._number_new(index)
            self.indices.append(index)
            ids = pa.concat_arrays([ids, own])
            labels = pa.concat_arrays([labels, own_labels])
            self._id_indices = np.concatenate([self._id_indices, index])

    def _match_ids(self, own: pa.Array, ids: pa.Array) -> np.ndarray:
        """Return the index of each id that a table before this one has, -1 for the others."""
        row = _rows_in(own, ids)
        index = np.where(row >= 0, np.append(self._id_indices, -1)[row], -1)
        self.same_id += int((index >= 0).sum())
        return index

    def _number_new(self, index: np.ndarray) -> None:
        """Give the rows without an index the next ones."""
        new = index < 0
        index[new] = self._count + np.arange(new.sum())
        self._count += int(new.sum())

    def _match_labels(self, index: np.ndarray, own: pa.Array, labels: pa.Array) -> None:
        """Give the rows without an index that of the one entity with the same label."""
        new = np.flatnonzero(index < 0)
        codes = _codes(labels, own)
        before, current = codes[: len(labels)], codes[len(labels) :]
        count = codes.max(initial=-1) + 1
        owner, owners = _owners(_distinct_pairs(before, self._id_indices), count)
        sharers = np.bincount(current, minlength=count)
        code = current[new]
        met = owners[code] > 0
        single = met & (owners[code] == 1) & (sharers[code] == 1)
        single &= ~np.isin(owner[code], index)  # an entity that this graph has by its id
        index[new[single]] = owner[code[single]]
        self.same_label += int(single.sum())
        unclear = met & ((owners[code] > 1) | (sharers[code] > 1))
        self.ambiguous_labels += len(np.unique(code[unclear]))


def _rows_in(items: pa.Array, values: pa.Array) -> np.ndarray:
    """Return the row of each item among the known ones, -1 where it is not there."""
    return numbers(pc.fill_null(pc.index_in(items, values), -1)).astype(np.int64)


def _codes(*columns: pa.Array) -> np.ndarray:
    """Return a number for each text of some columns, the same for the same text."""
    encoded = pc.dictionary_encode(pa.concat_arrays(columns))
    return numbers(encoded.indices).astype(np.int64)


def _owners(pairs: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an index that each of `count` codes is paired with, or -1, and how many it has."""
    owner = np.full(count, -1, np.int64)
    owner[pairs[:, 0]] = pairs[:, 1]
    return owner, np.bincount(pairs[:, 0], minlength=count)


def _distinct_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    return np.column_stack([first, second])[run_starts(first, second)]


def _merged_table(tables: Sequence[pa.Table], row_indices: Sequence[np.ndarray]) -> pa.Table:
    """Return one row per index: texts from the first table that has one, lists united."""
    index = np.concatenate(row_indices)
    first = np.unique(index, return_index=True)[1]
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    parts = {name: _joined(tables, name) for name in names}
    labels = _merged_labels(parts, index, first)
    columns = {}
    for name, column in parts.items():
        if name == "label":
            columns[name] = labels
        elif name == "name_counts":
            columns[name] = column.take(pa.array(first))
        elif name == "aliases":
            columns[name] = _united(column, index, first, _names(parts, index, first, labels))
        elif pa.types.is_list(column.type):
            columns[name] = _united(column, index, first)
        else:
            columns[name] = _first_given(column, index, first)
    merged = pa.table(columns)
    return _without_stale_counts(merged) if "name_counts" in names else merged


def _joined(tables: Sequence[pa.Table], name: str) -> pa.Array:
    """Return a column of all tables one after the other, null where a table does not have it."""
    kind = next(t.schema.field(name).type for t in tables if name in t.column_names)
    parts = [
        flat(t[name]).cast(kind) if name in t.column_names else pa.nulls(len(t), kind)
        for t in tables
    ]
    return pa.concat_arrays(parts)


def _unless_id(labels: pa.Array, ids: pa.Array) -> pa.Array:
    """Return labels, empty where one only repeats the id for want of a name."""
    return pc.if_else(pc.equal(labels, ids), "", labels)


def _merged_labels(parts: dict[str, pa.Array], index: np.ndarray, first: np.ndarray) -> pa.Array:
    """Return for each index its first label that is a name, else its id."""
    labels = _first_given(_unless_id(parts["label"], parts["id"]), index, first)
    return pc.if_else(pc.equal(labels, ""), parts["id"].take(pa.array(first)), labels)


def _names(
    parts: dict[str, pa.Array], index: np.ndarray, first: np.ndarray, labels: pa.Array
) -> pa.Array:
    """Return the label of each row, the merged one for first rows and those that lack a name."""
    unnamed = numbers(pc.equal(parts["label"], parts["id"]))
    replace = pc.or_(_mask(first, len(index)), pa.array(unnamed))
    return pc.if_else(replace, labels.take(pa.array(index)), parts["label"])


def _mask(rows: np.ndarray, count: int) -> pa.Array:
    mask = np.zeros(count, bool)
    mask[rows] = True
    return pa.array(mask)


def _first_given(column: pa.Array, index: np.ndarray, first: np.ndarray) -> pa.Array:
    """Return for each index its first value that says something, else its first."""
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if text:
        column = pc.fill_null(column, "")
    empty = pc.equal(column, "") if text else pc.is_null(column)
    given = np.flatnonzero(~numbers(empty))
    chosen = first.copy()
    owner, first_row = np.unique(index[given], return_index=True)
    chosen[owner] = given[first_row]
    return column.take(pa.array(chosen))


def _united(
    column: pa.Array, index: np.ndarray, first: np.ndarray, labels: pa.Array | None = None
) -> pa.Array:
    """Return for each index the items of its first row, then those of later rows that are new.

    With `labels`, one per row, the label of a later row is an item too.
    """
    row, items = list_rows(column)
    names = 0 if labels is None else len(labels)
    if labels is not None:
        row = np.concatenate([np.arange(names), row])
        items = pa.concat_arrays([labels.cast(items.type), items])
    is_label = np.arange(len(row)) < names
    order = np.lexsort((~is_label, row, index[row]))
    owner, code = index[row[order]], _codes(items)[order]
    is_new = _is_first(owner, code)
    of_first = numbers(_mask(first, len(index)))[row[order]]
    keep = np.where(of_first, ~is_label[order], is_new)
    return lists_from_rows(owner[keep], items.take(pa.array(order[keep])), len(first))


def _without_stale_counts(merged: pa.Table) -> pa.Table:
    """Forget the name_counts of entities that got more names than those that were counted."""
    counts = flat(merged["name_counts"])
    sizes = numbers(pc.fill_null(pc.list_value_length(counts), 0))
    names = numbers(pc.fill_null(pc.list_value_length(flat(merged["aliases"])), 0)) + 1
    counts = pc.if_else(pa.array(sizes == names), counts, pa.scalar(None, counts.type))
    return merged.set_column(merged.column_names.index("name_counts"), "name_counts", counts)


def _is_first(owner: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Return which rows are the first of their owner and code, (N,) bool."""
    order = np.lexsort((np.arange(len(owner)), code, owner))
    is_first = np.zeros(len(owner), bool)
    is_first[order] = run_starts(owner[order], code[order])
    return is_first


def _merged_triples(
    graphs: Sequence[Graph], entities: Sequence[np.ndarray], relations: Sequence[np.ndarray]
) -> TripleArrays:
    """Return all triples with their new indices; one of several graphs keeps its first split."""
    parts = []
    for graph, entity, relation in zip(graphs, entities, relations, strict=True):
        t = graph.triples
        ends = (entity[t.head], relation[t.relation], entity[t.tail])
        parts.append((*(column.astype(np.int32) for column in ends), t.split))
    head, link, tail, split = map(np.concatenate, zip(*parts, strict=True))
    source = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    keep = _of_first_source(source, head, link, tail)
    return TripleArrays(head[keep], link[keep], tail[keep], split[keep])


def _of_first_source(
    source: np.ndarray, head: np.ndarray, relation: np.ndarray, tail: np.ndarray
) -> np.ndarray:
    """Return the rows of triples, in order, of equal ones those of the first source only."""
    order = np.lexsort((source, tail, relation, head))
    if not len(order):
        return order
    begins = run_starts(head[order], relation[order], tail[order])
    group = np.cumsum(begins) - 1
    return order[source[order] == source[order][begins][group]]


def _merged_literals(
    graphs: Sequence[Graph], entities: Sequence[np.ndarray], relations: Sequence[np.ndarray]
) -> LiteralTables:
    """Return all values with the new indices of what they are about, equal ones once."""
    tables = [
        graph.literal_tables.reindexed(entity, relation)
        for graph, entity, relation in zip(graphs, entities, relations, strict=True)
    ]
    tables = [table for table in tables if len(table)]
    if not tables:
        return LiteralTables.empty()
    keys = [table.keys() for table in tables]
    properties = [table.properties.to_pylist() for table in reversed(tables)]
    labels = {row["id"]: row["label"] for rows in properties for row in rows}
    return make_tables(
        np.concatenate([table.entity for table in tables]),
        (pa.concat_arrays([k[0] for k in keys]), pa.concat_arrays([k[1] for k in keys])),
        pa.concat_arrays([flat(table.literals["value"]) for table in tables]),
        labels.get,
    )
