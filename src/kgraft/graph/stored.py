"""What the folder of a graph holds: its tables, and the indices over them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import StringColumn, arrow_numbers, arrow_strings, flat, numbers, take_rows
from kgraft.graph.adjacency import Adjacency, TripleArrays, build_adjacency
from kgraft.graph.batches import SPLITS, Split
from kgraft.graph.column_values import ColumnValues
from kgraft.graph.entity import Entity, Relation
from kgraft.graph.folder import BUILT_IN, LITERALS, MANIFEST, SINCE_0_2, Manifest
from kgraft.graph.iri_names import made_label
from kgraft.graph.joins import TripleIndex
from kgraft.graph.literals import LiteralStore, LiteralTables
from kgraft.graph.names.aliases import Aliases
from kgraft.graph.names.stems import KEYS_VERSION
from kgraft.graph.names.typos import SimilarNames
from kgraft.graph.write import name_tables
from kgraft.hashing import HashIndex, hash_strings

logger = logging.getLogger("kgraft.graph")


class StoredGraph:
    """The tables of a graph, memory-mapped, with the triples of all splits or of one."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        tables: dict[str, pa.Table],
        *,
        only: Split | None = None,
    ) -> None:
        self.folder, self.manifest, self.tables, self.only = folder, manifest, tables, only

    @staticmethod
    def locate(name: str | Path) -> Path:
        """Return the folder of a graph; a folder of that name comes before a built-in graph."""
        folder, built_in = Path(name), BUILT_IN / str(name)
        absent = not (folder / MANIFEST).exists() and (built_in / MANIFEST).exists()
        return built_in if absent else folder

    def __len__(self) -> int:
        return self.manifest.entities

    @property
    def entities(self) -> pa.Table:
        """All entities: id, label, description, aliases, types, name_counts, and extra columns."""
        return self.tables["entities"]

    @property
    def relations(self) -> pa.Table:
        """All relations: id, label, description, aliases, and extra columns."""
        return self.tables["relations"]

    @cached_property
    def all_relations(self) -> list[Relation]:
        """All relations in the order of their indices."""
        return [
            Relation(row, r["id"], r["label"], r["description"], r.get("template") or "")
            for row, r in enumerate(self.relations.to_pylist())
        ]

    @cached_property
    def triples(self) -> TripleArrays:
        """All triples (of the split) by index, sorted by head, relation, tail."""
        triples = self._triples_of_all_splits
        if self.only is None:
            return triples
        return triples.take(triples.split == SPLITS.index(self.only))

    @property
    def _triples_of_all_splits(self) -> TripleArrays:
        table = self.tables["triples"]
        return TripleArrays(*(numbers(table[n]) for n in ("head", "relation", "tail", "split")))

    @cached_property
    def adjacency(self) -> Adjacency:
        """The triples of every entity, in both directions."""
        if self.only is not None:
            return build_adjacency(self.triples, self.manifest.entities)
        edges = flat(self.tables["edges"]["relation_other"])
        bounds = numbers(self.tables["bounds"]["start"])
        return Adjacency(bounds, numbers(edges.values).reshape(-1, 2))

    @cached_property
    def triple_index(self) -> TripleIndex:
        """The triples in the orders that queries look them up in."""
        return TripleIndex(self.triples, self.manifest.entities, self.manifest.relations)

    @cached_property
    def aliases(self) -> Aliases:
        """The names of the entities, for look-up and for finding them in text."""
        is_current = self.manifest.keys_version == KEYS_VERSION
        if is_current and all(name in self.tables for name in SINCE_0_2):
            return Aliases(self.tables, self.manifest.alias_seed)
        message = "%s was written by an older kgraft: kgraft graph migrate saves time"
        logger.info(message, self.folder)
        tables, seed = name_tables(self.entities, self._triples_of_all_splits)
        return Aliases(tables, seed)

    @cached_property
    def similar_names(self) -> SimilarNames:
        """The names of the entities, for look-up with typos."""
        return SimilarNames(self.aliases.keys)

    @cached_property
    def literal_tables(self) -> LiteralTables:
        """The values of properties, as tables; without rows where the graph has none."""
        if any(name not in self.tables for name in LITERALS):
            return LiteralTables.empty()
        return LiteralTables(*(self.tables[name] for name in LITERALS))

    @cached_property
    def literal_store(self) -> LiteralStore:
        """The values of properties, by entity and by value."""
        return LiteralStore(self.literal_tables, cache(self._unit))

    @cached_property
    def column_values(self) -> ColumnValues:
        """The values in columns of entities that are neither names, descriptions nor types."""
        return ColumnValues(self.entities)

    def _unit(self, datatype: str) -> str:
        """Return the label of the unit that stands for the datatype of a quantity."""
        from kgraft.graph.io.rdf.iris import id_of
        from kgraft.graph.io.wikidata.ids import common_labels

        item = id_of(datatype)
        index = int(self.indices_of([item])[0])
        if index >= 0:
            return self.entities_at([index])[0].label
        return common_labels().get(item) or made_label(datatype)

    def entities_at(self, rows: Iterable[int] | np.ndarray) -> list[Entity]:
        """Return entities by index."""
        indices = np.fromiter(rows, np.int64)
        columns = ("id", "label", "description", "aliases", "types")
        taken = take_rows(self.entities.select(columns), indices)
        texts = zip(indices.tolist(), *(taken[name].to_pylist() for name in columns), strict=True)
        return [
            Entity(row, key, label, description, tuple(aliases), tuple(types))
            for row, key, label, description, aliases, types in texts
        ]

    def indices_of(self, ids: Sequence[str] | pa.Array) -> np.ndarray:
        """Return the index of each entity id, -1 for one that is not in the graph."""
        asked = ids if isinstance(ids, pa.Array) else arrow_strings(ids)
        index, entity = self._id_index
        row = index.find(hash_strings(asked, self.manifest.id_seed))
        indices = np.where(row >= 0, entity[np.maximum(row, 0)], -1) if len(entity) else row
        hits = np.flatnonzero(indices >= 0)
        stored = take_rows(self.entities.select(["id"]), indices[hits])["id"]
        same = pc.equal(flat(stored).cast(asked.type), asked.take(arrow_numbers(hits)))
        indices[hits[~numbers(same)]] = -1
        return indices.astype(np.int64)

    @cached_property
    def _id_index(self) -> tuple[HashIndex, np.ndarray]:
        table = self.tables["ids"]
        buckets = numbers(self.tables["id_buckets"]["start"])
        return HashIndex(numbers(table["hash"]), buckets), numbers(table["entity"])

    @cached_property
    def id_column(self) -> StringColumn:
        """The ids of the entities, of which single ones are read at once."""
        return StringColumn(self.entities["id"])

    @cached_property
    def relation_indices(self) -> dict[str, int]:
        """The index of each relation by its id."""
        return {item: row for row, item in enumerate(self.relations["id"].to_pylist())}
