"""The builder: takes the batches of a source and writes a graph."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat, list_rows, lists_from_rows, numbers
from kgraft.errors import BadInput
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    LITERAL_TYPE,
    RELATION_SCHEMA,
    SPLITS,
    Attributes,
    Batch,
    Entities,
    HasBlankNodes,
    Literals,
    PropertyLabels,
    Refusals,
    Relations,
    Source,
    Triples,
)
from kgraft.graph.folder import GRAPH, Manifest
from kgraft.graph.id_registry import IdRegistry
from kgraft.graph.iri_names import made_label
from kgraft.graph.literals import LiteralTables, make_tables
from kgraft.graph.structure import links_as_literals, tidy
from kgraft.graph.texts_as_literals import without_implied
from kgraft.graph.write import Content, Provenance, write_graph
from kgraft.progress import Progress, Silent
from kgraft.storage import refuse_existing


def build_graph(
    source: Source,
    target: Path,
    *,
    name: str = "",
    licence: str = "",
    refusals: Refusals | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Read a source and write it as a graph; on any error nothing is left at the target."""
    refuse_existing(target, GRAPH, overwrite=overwrite)
    refusals, progress = refusals or Refusals(), progress or Silent()
    with refusals:
        content = read_content(source, refusals, progress)
        provenance = _provenance(source, refusals, name or target.name, licence)
        return write_graph(target, content, provenance, overwrite=overwrite, progress=progress)


def _provenance(source: Source, refusals: Refusals, name: str, licence: str) -> Provenance:
    return Provenance(
        name=name,
        source=f"{source.describe()} ({source.format})",
        licence=licence,
        left_out=dict(refusals.left_out),
        refused=dict(refusals.reasons),
        notes=list(refusals.notes),
    )


def read_content(
    source: Source, refusals: Refusals, progress: Progress, *, onto: Content | None = None
) -> Content:
    """Read all of a source; with `onto`, as additions to what is there already."""
    builder = _Builder(source, refusals)
    if onto is not None:
        builder.start_from(onto)
    batches = source.batches(refusals, progress)
    try:
        for batch in batches:
            builder.add(batch)
    finally:
        if isinstance(batches, Generator):
            batches.close()  # on an error, what it has open is closed now
    return builder.content()


class _Builder:
    """Numbers what arrives and keeps the triples as numbers."""

    def __init__(self, source: Source, refusals: Refusals) -> None:
        self.source, self.refusals = source, refusals
        self.entities = IdRegistry(ENTITY_SCHEMA)
        self.relations = IdRegistry(RELATION_SCHEMA)
        self._before = (0, 0)  # entities and relations that were there already
        self._triples: list[TripleArrays] = []
        self._literals: list[Literals] = []
        self._old_literals = LiteralTables.empty()
        self._property_labels: dict[str, str] = {}
        self._waiting: list[Attributes] = []  # of subjects that may turn out to be relations

    def start_from(self, content: Content) -> None:
        """Begin with the numbers, rows and triples of an existing graph."""
        self._before = (len(content.entities), len(content.relations))
        self.entities.start_from(content.entities)
        self.relations.start_from(content.relations)
        self._triples.append(content.triples)
        self._old_literals = content.literals
        rows = content.literals.properties.to_pylist()
        self._property_labels = {row["id"]: row["label"] for row in rows}

    def add(self, batch: Batch) -> None:
        """Take a batch in."""
        match batch:
            case Entities(table, origin):
                self.entities.declare(table, origin, self.refusals)
            case Relations(table, origin):
                self.relations.declare(table, origin, self.refusals)
            case Triples():
                self._add_triples(batch)
            case Literals():
                self._literals.append(batch)
            case PropertyLabels(ids, labels):
                self._property_labels |= zip(ids.to_pylist(), labels.to_pylist(), strict=True)
            case Attributes(of=None):
                self._waiting.append(batch)
            case Attributes():
                self._add_attributes(batch, np.full(len(batch.rank), batch.of == "relation"))

    def _add_attributes(self, batch: Attributes, of_relation: np.ndarray) -> None:
        for registry, mask in ((self.relations, of_relation), (self.entities, ~of_relation)):
            if mask.any():
                keep = pa.array(mask)
                index = registry.lookup(batch.subject.filter(keep), add=True)
                field, value = batch.field.filter(keep), batch.value.filter(keep)
                registry.attributes.add(index, field, value, batch.rank[mask])

    def _look_up_ends(self, batch: Triples) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of heads and tails; new ones are added row by row."""
        ends = pa.concat_arrays([batch.head, batch.tail])
        interleaved = np.arange(len(ends)).reshape(2, -1).T.ravel()
        index = self.entities.lookup(
            ends.take(pa.array(interleaved)), add=self.source.unknown == "add"
        )
        return index[0::2], index[1::2]

    def _add_triples(self, batch: Triples) -> None:
        declared = self.source.unknown == "refuse" and self.relations.declared
        relation = self.relations.lookup(batch.relation, add=not declared)
        head, tail = self._look_up_ends(batch)
        good = (head >= 0) & (tail >= 0) & (relation >= 0)
        if not good.all():
            self._refuse_triples(batch, head, relation, tail)
        split = np.full(int(good.sum()), SPLITS.index(batch.split), np.int8)
        head, relation, tail = (part[good].astype(np.int32) for part in (head, relation, tail))
        self._triples.append(TripleArrays(head, relation, tail, split))

    def _refuse_triples(
        self, batch: Triples, head: np.ndarray, relation: np.ndarray, tail: np.ndarray
    ) -> None:
        bad = np.flatnonzero((head < 0) | (tail < 0) | (relation < 0)).tolist()
        if self.source.unknown == "drop":
            self.refusals.leave_out("triples to entities outside the source", len(bad))
            return
        for row in bad:
            parts = {"head": head, "relation": relation, "tail": tail}
            part = next(name for name, numbers in parts.items() if numbers[row] < 0)
            kind = "relation" if part == "relation" else "entity"
            text = "\t".join(getattr(batch, name)[row].as_py() for name in parts)
            self.refusals.refuse(
                f"unknown {kind}",
                file=batch.origin.file,
                line=batch.origin.line(row),
                detail=repr(getattr(batch, part)[row].as_py()),
                remedy="declare it, or leave such lines out (--skip-bad)",
                text=text,
            )

    def _tables(self) -> tuple[pa.Table, pa.Table]:
        """Return the tables of entities and of relations, with the labels of their types."""
        entities, relations = self.entities.table(), self.relations.table()
        if not self.source.types_are_ids:
            return entities, relations
        labels_of = self._type_labels(entities["label"])
        entities = _label_types(entities, labels_of, since=self._before[0])
        return entities, _label_types(relations, labels_of, since=self._before[1])

    def content(self) -> Content:
        """Return all that was read."""
        self._add_waiting()
        self._literals = [self._without_unknown(batch) for batch in self._literals]
        subjects = [self._subjects(batch.subject, batch.of) for batch in self._literals]
        self._note_undeclared()
        entities, relations = self._tables()
        if not len(entities):
            file, remedy = self.source.describe(), "is it the right file and format?"
            raise BadInput("no entity was found", file=file, remedy=remedy)
        relations = _without_empty_types(relations)
        literals = self._literal_tables(subjects).labelled(relations, entities)
        content = Content(entities, relations, self._joined(), literals)
        if not isinstance(self.source, HasBlankNodes):
            return content
        return self._tidy(without_implied(content) if self._literals else content)

    def _type_labels(self, labels: pa.ChunkedArray) -> Callable[[pa.Array], list[str]]:
        """Return what labels types: an entity's label, a common one, or one made from the id."""
        common = getattr(self.source, "labels", {})

        def labels_of(types: pa.Array) -> list[str]:
            index = self.entities.lookup(types, add=False)
            given = labels.take(pa.array(index, mask=index < 0)).to_pylist()
            return [
                item.removeprefix(LITERAL_TYPE)
                if item.startswith(LITERAL_TYPE)
                else label or common.get(item) or made_label(item)
                for item, label in zip(types.to_pylist(), given, strict=True)
            ]

        return labels_of

    def _tidy(self, content: Content) -> Content:
        """Return the content without blank nodes and links that are not entities."""
        assert isinstance(self.source, HasBlankNodes)
        blank_nodes = self.source.blank_nodes
        if blank_nodes is not None:
            return tidy(content, self.refusals, blank_nodes=blank_nodes, since=self._before)
        links = ~self.entities.are_declared()
        links[: self._before[0]] = False
        return links_as_literals(content, links) if links.any() else content

    def _subjects(self, ids: pa.Array, of: str | None) -> np.ndarray:
        """Return the number of each subject of literals: an entity's, or -1 - a relation's."""
        if of == "relation":
            return -1 - self.relations.lookup(ids, add=True)
        if of == "entity":
            return self.entities.lookup(ids, add=True)
        entity = self.entities.lookup(ids, add=False)
        relation = self.relations.lookup(ids, add=False)
        new = (entity < 0) & (relation < 0)
        if new.any():
            entity[new] = self.entities.lookup(ids.filter(pa.array(new)), add=True)
        return np.where(entity >= 0, entity, -1 - relation)

    def _without_unknown(self, batch: Literals) -> Literals:
        """Refuse the values of what nobody declared, where the source refuses such triples."""
        if self.source.unknown != "refuse" or batch.origin is None:
            return batch
        kind = batch.of or "entity"
        registry = self.relations if kind == "relation" else self.entities
        is_declared = registry.lookup(batch.subject, add=False) >= 0
        for row in np.flatnonzero(~is_declared).tolist():
            columns = (batch.subject, batch.property, batch.value)
            self.refusals.refuse(
                f"unknown {kind}",
                file=batch.origin.file,
                line=batch.origin.line(row),
                detail=repr(batch.subject[row].as_py()),
                remedy="declare it, or leave such lines out (--skip-bad)",
                text="\t".join(column[row].as_py() for column in columns),
            )
        keep = pa.array(is_declared)
        kept = {
            name: getattr(batch, name).filter(keep)
            for name in ("subject", "property", "datatype", "value")
        }
        return replace(batch, **kept, origin=None)

    def _literal_tables(self, subjects: list[np.ndarray]) -> LiteralTables:
        """Return all literals, those that were there before first."""
        old = self._old_literals
        if not self._literals:
            return old
        columns: list[list[pa.Array]] = [
            [*old.keys(), flat(old.literals["value"])],
            *([b.property, b.datatype, b.value.cast(pa.large_string())] for b in self._literals),
        ]
        property_, datatype, value = (
            pa.concat_arrays(parts) for parts in zip(*columns, strict=True)
        )
        entity = np.concatenate([old.entity, *subjects])
        return make_tables(entity, (property_, datatype), value, self._property_labels.get)

    def _add_waiting(self) -> None:
        """Take in what is said about relations and entities; some subjects are both."""
        for batch in self._waiting:
            is_declared = self.relations.lookup(batch.subject, add=False) >= 0
            both = np.flatnonzero(is_declared)
            entity = self.entities.lookup(batch.subject.take(pa.array(both)), add=False)
            self._add_attributes(batch, is_declared)
            self._add_attributes(
                _rows(batch, both[entity >= 0]), np.zeros((entity >= 0).sum(), bool)
            )

    def _note_undeclared(self) -> None:
        """Say how many entities and relations only triples name, where others are declared."""
        kinds = (
            (self.entities, self._before[0], "entity", "entities"),
            (self.relations, self._before[1], "relation", "relations"),
        )
        for registry, before, one, many in kinds:
            count = registry.undeclared(since=before)
            if registry.declares and count:
                subject = f"1 {one} that" if count == 1 else f"{count:,} {many} that"
                self.refusals.note(
                    f"{subject} only triples or values name: added with the id as label"
                )

    def _joined(self) -> TripleArrays:
        if not self._triples:
            none = np.zeros(0, np.int32)
            return TripleArrays(none, none, none, none.astype(np.int8))
        parts = [(t.head, t.relation, t.tail, t.split) for t in self._triples]
        return TripleArrays(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _rows(batch: Attributes, rows: np.ndarray) -> Attributes:
    """Return some rows of a batch."""
    chosen = pa.array(rows)
    subject, field, value = (c.take(chosen) for c in (batch.subject, batch.field, batch.value))
    return Attributes(subject, field, value, batch.rank[rows], batch.of)


def _without_empty_types(relations: pa.Table) -> pa.Table:
    """Return the relations without the column of types where no relation has one."""
    if "types" in relations.column_names and not len(list_rows(relations["types"])[0]):
        return relations.drop_columns("types")
    return relations


def _label_types(
    table: pa.Table, labels_of: Callable[[pa.Array], list[str]], *, since: int
) -> pa.Table:
    """Replace types given by id by their labels, each once per row.

    Rows before number `since` were there already, with their types by label.
    """
    row, types = list_rows(table["types"])
    encoded = pc.dictionary_encode(types)
    names = labels_of(encoded.dictionary)
    named = pa.array(names, pa.string()).take(encoded.indices)
    named = pc.if_else(pa.array(row >= since), named, types)
    given = numbers(pc.starts_with(types, LITERAL_TYPE)) | (row < since)
    keep = np.union1d(_first_of_each(row, named), np.flatnonzero(given))
    types = lists_from_rows(row[keep], named.take(pa.array(keep)), len(table))
    return table.set_column(table.column_names.index("types"), "types", types)


def _first_of_each(row: np.ndarray, items: pa.Array) -> np.ndarray:
    """Return where each item of each row stands for the first time."""
    code = numbers(pc.dictionary_encode(items).indices).astype(np.int64)
    _, first = np.unique(row.astype(np.int64) << 32 | code, return_index=True)
    return np.sort(first)
