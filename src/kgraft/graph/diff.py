"""Diff: what was added, removed and changed between two versions of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat, list_rows, numbers, take_rows
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.batches import SPLITS
from kgraft.graph.graph import Graph
from kgraft.graph.literals import LiteralTables

Part = Literal["entities", "relations", "triples", "values"]
PARTS: tuple[Part, ...] = ("entities", "relations", "triples", "values")
SPLIT_BITS = 2


@dataclass(frozen=True, eq=False)
class RowDiff:
    """Which rows of the old and of the new table differ, by id."""

    added: np.ndarray  # rows of the new table
    removed: np.ndarray  # rows of the old table
    changed: np.ndarray  # (C, 2) rows of the old table and of the new one
    columns: dict[str, np.ndarray]  # name of a column → (C,) whether it differs


@dataclass(frozen=True, eq=False)
class GraphDiff:
    """What differs between two graphs; `counts` sums it up and `to_dict` says it."""

    old: Graph
    new: Graph
    entities: RowDiff
    relations: RowDiff
    triples: RowDiff  # changed: in another split
    values: RowDiff  # changed: the one of a property that went, and the one that came

    @property
    def is_empty(self) -> bool:
        """Whether the graphs say the same."""
        return not any(sum(counts.values()) for counts in self.counts().values())

    def counts(self) -> dict[Part, dict[str, int]]:
        """Return how many of each part were added, removed and changed."""
        kinds = ("added", "removed", "changed")
        return {part: {k: len(getattr(getattr(self, part), k)) for k in kinds} for part in PARTS}

    def changed_columns(self, part: Literal["entities", "relations"]) -> Counter[str]:
        """Return how many rows changed in each column."""
        columns = getattr(self, part).columns
        return Counter({name: int(mask.sum()) for name, mask in columns.items() if mask.any()})

    def to_dict(self, limit: int | None = None) -> dict[str, Any]:
        """Return the versions, the counts and up to `limit` items of each kind."""
        parts: dict[str, Any] = {part: self._items(part, limit) for part in PARTS}
        versions = {"old": self.old.manifest.version, "new": self.new.manifest.version}
        return {**versions, "counts": self.counts(), **parts}

    def _items(self, part: Part, limit: int | None) -> dict[str, list[Any]]:
        rows: RowDiff = getattr(self, part)
        return {
            "added": _items(self.new, part, rows.added[:limit]),
            "removed": _items(self.old, part, rows.removed[:limit]),
            "changed": list(_changes(self, part, limit)),
        }


def diff_graphs(old: Graph, new: Graph) -> GraphDiff:
    """Compare two graphs by the ids of their entities and relations.

    An entity or relation is changed where a column of it differs, a triple where its split does, a
    value where one value of a property went and one came.
    """
    old, new = old.whole(), new.whole()
    entity = new.indices_of(flat(old.entities["id"]))
    relation = _relation_indices(old, new)
    return GraphDiff(
        old,
        new,
        _diff_tables(old.entities, new.entities, entity),
        _diff_tables(old.relations, new.relations, relation),
        _diff_triples(old, new, entity, relation),
        _diff_values(old, new, entity, relation),
    )


def _relation_indices(old: Graph, new: Graph) -> np.ndarray:
    ids, new_ids = (flat(graph.relations["id"]) for graph in (old, new))
    row = pc.index_in(ids, new_ids.cast(ids.type))
    return numbers(pc.fill_null(row, -1)).astype(np.int64)


def _diff_tables(old: pa.Table, new: pa.Table, row_in_new: np.ndarray) -> RowDiff:
    """Compare two tables; row r of the old one is row `row_in_new[r]` of the new one, or -1."""
    absent = np.ones(len(new), bool)
    absent[row_in_new[row_in_new >= 0]] = False
    common = np.flatnonzero(row_in_new >= 0)
    pairs = np.column_stack([common, row_in_new[common]])
    masks = {}
    for name in dict.fromkeys([*old.column_names, *new.column_names]):
        if name != "id":
            before, after = _taken(old, name, pairs[:, 0]), _taken(new, name, pairs[:, 1])
            masks[name] = _differs(before, after, len(pairs))
    changed = np.any(list(masks.values()), axis=0) if masks else np.zeros(len(pairs), bool)
    columns = {name: mask[changed] for name, mask in masks.items()}
    removed = np.flatnonzero(row_in_new < 0)
    return RowDiff(np.flatnonzero(absent), removed, pairs[changed], columns)


def _taken(table: pa.Table, name: str, rows: np.ndarray) -> pa.Array | None:
    if name not in table.column_names:
        return None
    return flat(take_rows(table.select([name]), rows)[name])


def _differs(old: pa.Array | None, new: pa.Array | None, count: int) -> np.ndarray:
    """Return in which rows two columns differ; nothing, an empty text and no items are equal."""
    kind = next(column.type for column in (old, new) if column is not None)
    before, after = (pa.nulls(count, kind) if c is None else c.cast(kind) for c in (old, new))
    if pa.types.is_list(kind):
        return _lists_differ(before, after)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        before, after = pc.fill_null(before, ""), pc.fill_null(after, "")
    one_null = pc.xor(pc.is_null(before), pc.is_null(after))
    return numbers(pc.or_(pc.fill_null(pc.not_equal(before, after), False), one_null))


def _lists_differ(old: pa.Array, new: pa.Array) -> np.ndarray:
    sizes = [numbers(pc.fill_null(pc.list_value_length(c), 0)) for c in (old, new)]
    differs = sizes[0] != sizes[1]
    alike = np.flatnonzero(~differs)
    (row, before), (_, after) = (list_rows(c.take(pa.array(alike))) for c in (old, new))
    unequal = numbers(pc.fill_null(pc.not_equal(before, after), True))
    differs[alike[row[unequal]]] = True
    return differs


def _diff_triples(old: Graph, new: Graph, entity: np.ndarray, relation: np.ndarray) -> RowDiff:
    """Compare triples by indices that both graphs share: the new ones, the old's own behind."""
    entity, entities = _shared(entity, new.manifest.entities)
    relation, relations = _shared(relation, new.manifest.relations)
    t = old.triples
    reindexed = TripleArrays(entity[t.head], relation[t.relation], entity[t.tail], t.split)
    before, after = _keys(reindexed, new.triples, entities, relations)
    before_order, before_keys = _sorted(before)
    after_order, after_keys = _sorted(after)
    removed = before_order[~_contains(after_keys, before_keys)]
    added = after_order[~_contains(before_keys, after_keys)]
    return _moved_apart(removed, added, before >> SPLIT_BITS, after >> SPLIT_BITS)


def _diff_values(old: Graph, new: Graph, entity: np.ndarray, relation: np.ndarray) -> RowDiff:
    """Compare the values of properties by what they are about, property, datatype and text."""
    entity, _ = _shared(entity, new.manifest.entities)
    relation, _ = _shared(relation, new.manifest.relations)
    before, after = old.literal_tables, new.literal_tables
    subject = _shared_subjects(before.entity, entity, relation)
    columns = [np.concatenate([subject, after.entity]), *_text_codes(before, after)]
    key, owner = _row_codes(columns), _row_codes(columns[:2])
    old_keys, new_keys = key[: len(before)], key[len(before) :]
    removed = np.flatnonzero(~np.isin(old_keys, new_keys))
    added = np.flatnonzero(~np.isin(new_keys, old_keys))
    return _replaced(removed, added, owner[: len(before)], owner[len(before) :])


def _text_codes(before: LiteralTables, after: LiteralTables) -> Iterator[np.ndarray]:
    """Yield codes of the properties, datatypes and texts of two tables, the same for equal ones."""
    texts = [(*t.keys(), flat(t.literals["value"])) for t in (before, after)]
    for one, other in zip(*texts, strict=True):
        codes = pc.dictionary_encode(pa.concat_arrays([one, other])).indices
        yield numbers(codes).astype(np.int64)


def _shared_subjects(subject: np.ndarray, entity: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """Return what values are about by shared indices, relations still as -1 - index."""
    shared = subject.astype(np.int64)
    of_entity = subject >= 0
    shared[of_entity] = entity[subject[of_entity]]
    shared[~of_entity] = -1 - relation[-1 - subject[~of_entity]]
    return shared


def _row_codes(columns: list[np.ndarray]) -> np.ndarray:
    """Return a number for each row of some columns, the same for equal rows."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        distinct, inverse = np.unique(column, return_inverse=True)
        code = np.unique(code * max(len(distinct), 1) + inverse, return_inverse=True)[1]
    return code


def _replaced(
    removed: np.ndarray, added: np.ndarray, before: np.ndarray, after: np.ndarray
) -> RowDiff:
    """Take values apart that replaced the only one of their property that went."""
    size = int(max(before.max(initial=-1), after.max(initial=-1))) + 1
    went, came = (np.bincount(p, minlength=size) for p in (before[removed], after[added]))
    single = (went == 1) & (came == 1)
    old_rows, new_rows = removed[single[before[removed]]], added[single[after[added]]]
    old_rows, new_rows = (
        old_rows[np.argsort(before[old_rows])],
        new_rows[np.argsort(after[new_rows])],
    )
    changed = np.column_stack([old_rows, new_rows])
    return RowDiff(np.setdiff1d(added, new_rows), np.setdiff1d(removed, old_rows), changed, {})


def _shared(row_in_new: np.ndarray, count: int) -> tuple[np.ndarray, int]:
    """Return the index of each old row, those that the new lacks behind its own; and how many."""
    absent = row_in_new < 0
    total = count + int(absent.sum())
    shared = row_in_new.copy()
    shared[absent] = np.arange(count, total)
    return shared, total


def _keys(
    old: TripleArrays, new: TripleArrays, entities: int, relations: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return one number per triple, the same for the same triple, its split in the last bits."""
    entity_bits, relation_bits = (max(1, (n - 1).bit_length()) for n in (entities, relations))
    ends = [_packed(triples, relation_bits) for triples in (old, new)]
    if 2 * entity_bits + relation_bits + SPLIT_BITS > 63:
        codes = np.unique(np.concatenate(ends), return_inverse=True)[1]
        ends = [codes[: len(old)], codes[len(old) :]]
    before, after = (
        (end << entity_bits | triples.tail) << SPLIT_BITS | triples.split
        for end, triples in zip(ends, (old, new), strict=True)
    )
    return before, after


def _packed(triples: TripleArrays, relation_bits: int) -> np.ndarray:
    packed: np.ndarray = triples.head.astype(np.int64) << relation_bits | triples.relation
    return packed


def _sorted(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(keys) < 2 or (keys[1:] >= keys[:-1]).all():
        return np.arange(len(keys)), keys
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _contains(ascending: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Tell which of some ascending keys are among others that ascend."""
    if not len(ascending):
        return np.zeros(len(keys), bool)
    position = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[position] == keys)


def _moved_apart(
    removed: np.ndarray, added: np.ndarray, before: np.ndarray, after: np.ndarray
) -> RowDiff:
    """Take the triples that only changed their split out of those added and removed."""
    old_key, new_key = before[removed], after[added]
    moved = np.isin(old_key, new_key)
    came = np.isin(new_key, old_key)
    old_rows, new_rows = removed[moved], added[came]
    _, first = np.unique(old_key[moved], return_index=True)
    _, second = np.unique(new_key[came], return_index=True)
    changed = np.column_stack([old_rows[first], new_rows[second]])
    return RowDiff(np.sort(added[~came]), np.sort(removed[~moved]), changed, {})


def _items(graph: Graph, part: Part, rows: np.ndarray) -> list[dict[str, Any]]:
    """Return triples by id, and of anything else id and label."""
    if part == "triples":
        return _triple_items(graph, rows)
    if part == "values":
        return _value_items(graph, rows)
    table = take_rows(getattr(graph, part).select(["id", "label"]), rows)
    items: list[dict[str, Any]] = table.to_pylist()
    return items


def _triple_items(graph: Graph, rows: np.ndarray) -> list[dict[str, Any]]:
    t = graph.triples.take(rows)
    heads, tails = (take_rows(graph.entities.select(["id"]), e)["id"] for e in (t.head, t.tail))
    links = take_rows(graph.relations.select(["id"]), t.relation)["id"]
    columns = (heads.to_pylist(), links.to_pylist(), tails.to_pylist(), t.split.tolist())
    return [
        {"head": head, "relation": link, "tail": tail, "split": SPLITS[split]}
        for head, link, tail, split in zip(*columns, strict=True)
    ]


def _value_items(graph: Graph, rows: np.ndarray) -> list[dict[str, Any]]:
    tables = graph.literal_tables
    names, datatypes = (t["id"].to_pylist() for t in (tables.properties, tables.datatypes))
    labels = tables.properties["label"].to_pylist()
    return [
        {
            **_subject(graph, row["entity"]),
            "property": names[row["property"]],
            "property_label": labels[row["property"]],
            "value": row["value"],
            "datatype": datatypes[row["datatype"]],
        }
        for row in take_rows(tables.literals, rows).to_pylist()
    ]


def _subject(graph: Graph, index: int) -> dict[str, str]:
    """Return what a value is about, by id."""
    if index < 0:
        return {"relation": graph.all_relations[-1 - index].id}
    return {"entity": graph.entities_at([index])[0].id}


def _changes(diff: GraphDiff, part: Part, limit: int | None) -> Iterator[dict[str, Any]]:
    rows: RowDiff = getattr(diff, part)
    old_rows, new_rows = rows.changed[:limit].T
    if part == "triples":
        before, after = _triple_items(diff.old, old_rows), _triple_items(diff.new, new_rows)
        yield from _changed_items(before, after, ("split",))
    elif part == "values":
        before, after = _value_items(diff.old, old_rows), _value_items(diff.new, new_rows)
        yield from _changed_items(before, after, ("value", "datatype"))
    else:
        before = take_rows(getattr(diff.old, part), old_rows).to_pylist()
        after = take_rows(getattr(diff.new, part), new_rows).to_pylist()
        yield from _changed_rows(before, after, rows.columns)


def _changed_items(
    before: list[dict[str, Any]], after: list[dict[str, Any]], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield triples or values as they are now, the named fields with what they were before."""
    for old, new in zip(before, after, strict=True):
        yield {**new, **{name: {"old": old[name], "new": new[name]} for name in names}}


def _changed_rows(
    before: list[dict[str, Any]], after: list[dict[str, Any]], masks: Mapping[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Yield the columns in which entities or relations differ; a mask per column says where."""
    for row, (old, new) in enumerate(zip(before, after, strict=True)):
        differ = [name for name, mask in masks.items() if mask[row]]
        columns = {name: {"old": old.get(name), "new": new.get(name)} for name in differ}
        yield {"id": new["id"], "label": new["label"], "columns": columns}
