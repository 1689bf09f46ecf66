"""The builder: takes the batches of a source and writes a graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.errors import BadInput
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    RELATION_SCHEMA,
    SPLITS,
    Attributes,
    Batch,
    Entities,
    Refusals,
    Relations,
    Source,
    Triples,
)
from kgraft.graph.columns import list_rows, lists_from_rows, numbers
from kgraft.graph.folder import GRAPH, Manifest
from kgraft.graph.registry import Registry
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
    )


def read_content(
    source: Source, refusals: Refusals, progress: Progress, *, onto: Content | None = None
) -> Content:
    """Read all of a source; with `onto`, as additions to what is there already."""
    builder = _Builder(source, refusals)
    if onto is not None:
        builder.start_from(onto)
    for batch in source.batches(refusals, progress):
        builder.add(batch)
    return builder.content()


class _Builder:
    """Numbers what arrives and keeps the triples as numbers."""

    def __init__(self, source: Source, refusals: Refusals) -> None:
        self.source, self.refusals = source, refusals
        self.entities = Registry(ENTITY_SCHEMA)
        self.relations = Registry(RELATION_SCHEMA)
        self._before = 0  # entities that were there already
        self._triples: list[TripleArrays] = []
        self._waiting: list[Attributes] = []  # of subjects that may turn out to be relations

    def start_from(self, content: Content) -> None:
        """Begin with the numbers, rows and triples of an existing graph."""
        self._before = len(content.entities)
        self.entities.start_from(content.entities)
        self.relations.start_from(content.relations)
        self._triples.append(content.triples)

    def add(self, batch: Batch) -> None:
        """Take a batch in."""
        match batch:
            case Entities(table, origin):
                self.entities.declare(table, origin, self.refusals)
            case Relations(table, origin):
                self.relations.declare(table, origin, self.refusals)
            case Triples():
                self._add_triples(batch)
            case Attributes(of=None):
                self._waiting.append(batch)
            case Attributes():
                self._add_attributes(batch, np.full(len(batch.rank), batch.of == "relation"))

    def _add_attributes(self, batch: Attributes, of_relation: np.ndarray) -> None:
        for registry, mask in ((self.relations, of_relation), (self.entities, ~of_relation)):
            if mask.any():
                keep = pa.array(mask)
                number = registry.lookup(batch.subject.filter(keep), add=True)
                field, value = batch.field.filter(keep), batch.value.filter(keep)
                registry.attributes.add(number, field, value, batch.rank[mask])

    def _add_triples(self, batch: Triples) -> None:
        declared = self.source.unknown == "refuse" and self.relations.declared
        relation = self.relations.lookup(batch.relation, add=not declared)
        ends = pa.concat_arrays([batch.head, batch.tail])
        interleaved = np.arange(len(ends)).reshape(2, -1).T.ravel()
        number = self.entities.lookup(
            ends.take(pa.array(interleaved)), add=self.source.unknown == "add"
        )
        head, tail = number[0::2], number[1::2]
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
            what = "relation" if part == "relation" else "entity"
            text = "\t".join(getattr(batch, name)[row].as_py() for name in parts)
            self.refusals.refuse(
                f"unknown {what}",
                file=batch.origin.file,
                line=batch.origin.line(row),
                detail=repr(getattr(batch, part)[row].as_py()),
                remedy="declare it, or leave such lines out (--skip-bad)",
                text=text,
            )

    def content(self) -> Content:
        """Return all that was read."""
        for batch in self._waiting:
            known = pc.is_in(batch.subject, pa.array(list(self.relations.numbers), pa.string()))
            self._add_attributes(batch, numbers(known))
        entities = self.entities.table()
        if self.source.types_are_ids:
            labels = getattr(self.source, "labels", {})
            entities = _label_types(entities, self.entities.numbers, labels, since=self._before)
        if not len(entities):
            file, remedy = self.source.describe(), "is it the right file and format?"
            raise BadInput("no entity was found", file=file, remedy=remedy)
        return Content(entities, self.relations.table(), self._joined())

    def _joined(self) -> TripleArrays:
        if not self._triples:
            none = np.zeros(0, np.int32)
            return TripleArrays(none, none, none, none.astype(np.int8))
        parts = [(t.head, t.relation, t.tail, t.split) for t in self._triples]
        return TripleArrays(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _label_types(
    entities: pa.Table, number_of: dict[str, int], known: dict[str, str], *, since: int
) -> pa.Table:
    """Replace types given by id by the label of that entity, a known one, or the end of the IRI.

    Entities before number `since` were there already, with their types by label.
    """
    row, types = list_rows(entities["types"])
    encoded = pc.dictionary_encode(types)
    labels = entities["label"]
    names = [
        labels[number_of[item]].as_py()
        if item in number_of
        else known.get(item) or _local_name(item)
        for item in encoded.dictionary.to_pylist()
    ]
    named = pa.array(names, pa.string()).take(encoded.indices)
    named = pc.if_else(pa.array(row >= since), named, types)
    place = entities.column_names.index("types")
    return entities.set_column(place, "types", lists_from_rows(row, named, len(entities)))


def _local_name(item: str) -> str:
    if "://" not in item:
        return item
    return item.rstrip("/#").replace("#", "/").rpartition("/")[2]
