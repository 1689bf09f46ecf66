"""The graph: a folder opened for reading, memory-mapped, never changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import (
    StringColumn,
    arrow_numbers,
    arrow_strings,
    flat,
    list_rows,
    numbers,
    take_rows,
)
from kgraft.errors import NotFound
from kgraft.graph.adjacency import Adjacency, Direction, TripleArrays, build_adjacency
from kgraft.graph.batches import SPLITS, Source, Split
from kgraft.graph.cards import choose_facts
from kgraft.graph.column_values import ColumnValues
from kgraft.graph.entity import (
    Candidate,
    Card,
    Entity,
    EntityLike,
    Found,
    GraphPath,
    Mention,
    Neighbour,
    Relation,
)
from kgraft.graph.folder import (
    BUILT_IN,
    LITERALS,
    MANIFEST,
    SINCE_0_2,
    Manifest,
    read_manifest,
    read_tables,
)
from kgraft.graph.iri_names import PREFIXES, made_label
from kgraft.graph.joins import TripleIndex
from kgraft.graph.literals import Literal, LiteralStore, LiteralTables, Value
from kgraft.graph.names.aliases import Aliases
from kgraft.graph.names.stems import KEYS_VERSION
from kgraft.graph.names.typos import SimilarNames
from kgraft.graph.paths import Subgraph, paths_between, subgraph
from kgraft.graph.query import Patterns, Solutions, query_graph
from kgraft.graph.search import search_all, search_nearby
from kgraft.graph.texts_as_literals import TEXT_FIELDS
from kgraft.graph.write import name_tables
from kgraft.hashing import HashIndex, hash_strings
from kgraft.notebook import html_block
from kgraft.progress import Progress

logger = logging.getLogger("kgraft.graph")
ENTITIES_AT_ONCE = 4096  # read together by iteration


class Graph:
    """A knowledge graph: a container of its entities, by id or exact label.

    Methods that take an entity also take its id, its exact label (of several entities with that
    label, the likeliest) or its index. A graph may be read from several threads at once: nothing
    in its folder ever changes, and `extend` and `without` write new folders.

    >>> world = Graph.open("world")
    >>> world.find("Deutschland")[0].label
    'Germany'
    >>> "Germany" in world, world["Germany"].id, len(world)
    (True, 'country:DE', 7926)
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        tables: dict[str, pa.Table],
        *,
        only: Split | None = None,
    ) -> None:
        self.folder, self.manifest, self.tables, self.only = folder, manifest, tables, only

    @classmethod
    def open(cls, name: str | Path = "world") -> Graph:
        """Open a graph by its folder, or a built-in one by its name, and verify its manifest."""
        folder = cls.locate(name)
        manifest = read_manifest(folder)
        return cls(folder, manifest, read_tables(folder))

    @staticmethod
    def locate(name: str | Path) -> Path:
        """Return the folder of a graph; a folder of that name comes before a built-in graph."""
        folder, built_in = Path(name), BUILT_IN / str(name)
        absent = not (folder / MANIFEST).exists() and (built_in / MANIFEST).exists()
        return built_in if absent else folder

    def __repr__(self) -> str:
        size = f"{len(self.entities):,} entities, {len(self.triples):,} triples"
        return f"<Graph {self.manifest.name}: {size}>"

    def _repr_html_(self) -> str:
        rows = [
            ("entities", f"{len(self.entities):,}"),
            ("relations", f"{len(self.relations):,}"),
            ("triples", f"{len(self.triples):,}" + (f" ({self.only})" if self.only else "")),
            ("source", self.manifest.source),
            ("licence", self.manifest.licence),
            ("version", self.manifest.version),
        ]
        return html_block(self.manifest.name, [row for row in rows if row[1]], subtitle="graph")

    def __len__(self) -> int:
        return self.manifest.entities

    def __iter__(self) -> Iterator[Entity]:
        for begin in range(0, len(self), ENTITIES_AT_ONCE):
            end = min(begin + ENTITIES_AT_ONCE, len(self))
            yield from self.entities_at(np.arange(begin, end))

    def __contains__(self, which: object) -> bool:
        try:
            return self.index(which) >= 0  # type: ignore[arg-type]
        except (NotFound, TypeError):
            return False

    def __getitem__(self, which: EntityLike) -> Entity:
        return self.entity(which)

    def split(self, name: Split) -> Graph:
        """Return the same graph with the triples of one split only; training uses `train`."""
        if name not in SPLITS:
            raise NotFound(f"no split is named {name!r}; splits are {', '.join(SPLITS)}")
        if self.manifest.splits[name] == self.manifest.triples:
            return self.whole()
        return Graph(self.folder, self.manifest, self.tables, only=name)

    def whole(self) -> Graph:
        """Return the graph with the triples of all splits."""
        return self if self.only is None else Graph(self.folder, self.manifest, self.tables)

    # What the folder holds

    @property
    def entities(self) -> pa.Table:
        """All entities: id, label, description, aliases, types, name_counts, and extra columns."""
        return self.tables["entities"]

    @property
    def relations(self) -> pa.Table:
        """All relations: id, label, description, aliases, and extra columns."""
        return self.tables["relations"]

    @cached_property
    def triples(self) -> TripleArrays:
        """All triples (of the split) by number, sorted by head, relation, tail."""
        table = self.tables["triples"]
        triples = TripleArrays(*(numbers(table[n]) for n in ("head", "relation", "tail", "split")))
        if self.only is None:
            return triples
        return triples.take(triples.split == SPLITS.index(self.only))

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
    def similar_names(self) -> SimilarNames:
        """The names of the entities, for look-up with typos."""
        return SimilarNames(self.aliases.keys)

    @cached_property
    def aliases(self) -> Aliases:
        """The names of the entities, for look-up and for finding them in text."""
        is_current = self.manifest.keys_version == KEYS_VERSION
        if is_current and all(name in self.tables for name in SINCE_0_2):
            return Aliases(self.tables, self.manifest.alias_seed)
        told = "%s was written by an older kgraft: kgraft graph migrate saves time"
        logger.info(told, self.folder)
        tables, seed = name_tables(self.entities, self.whole().triples)
        return Aliases(tables, seed)

    @cached_property
    def literal_tables(self) -> LiteralTables:
        """The values of properties, as tables; without rows where the graph has none."""
        if any(name not in self.tables for name in LITERALS):
            return LiteralTables.empty()
        return LiteralTables(*(self.tables[name] for name in LITERALS))

    @cached_property
    def column_values(self) -> ColumnValues:
        """The values in columns of entities that are neither names, descriptions nor types."""
        return ColumnValues(self.entities)

    @cached_property
    def _literal_store(self) -> LiteralStore:
        return LiteralStore(self.literal_tables, cache(self._unit))

    def _unit(self, datatype: str) -> str:
        """Return the label of the unit that stands for the datatype of a quantity."""
        from kgraft.graph.io.rdf.iris import id_of
        from kgraft.graph.io.wikidata.ids import common_labels

        item = id_of(datatype)
        index = int(self.indices_of([item])[0])
        if index >= 0:
            return self.entity(index).label
        return common_labels().get(item) or made_label(datatype)

    @cached_property
    def _ids(self) -> tuple[HashIndex, np.ndarray]:
        table = self.tables["ids"]
        buckets = numbers(self.tables["id_buckets"]["start"])
        return HashIndex(numbers(table["hash"]), buckets), numbers(table["entity"])

    @cached_property
    def _relation_numbers(self) -> dict[str, int]:
        return {item: row for row, item in enumerate(self.relations["id"].to_pylist())}

    # Look-ups

    def indices_of(self, ids: Sequence[str] | pa.Array) -> np.ndarray:
        """Return the number of each entity id, -1 for one that is not in the graph."""
        wanted = ids if isinstance(ids, pa.Array) else arrow_strings(ids)
        index, entity = self._ids
        place = index.find(hash_strings(wanted, self.manifest.id_seed))
        found = np.where(place >= 0, entity[np.maximum(place, 0)], -1) if len(entity) else place
        known = np.flatnonzero(found >= 0)
        stored = take_rows(self.entities.select(["id"]), found[known])["id"]
        same = pc.equal(flat(stored).cast(wanted.type), wanted.take(arrow_numbers(known)))
        found[known[~numbers(same)]] = -1
        return found.astype(np.int64)

    def entity(self, which: EntityLike) -> Entity:
        """Return an entity by id, by exact label (the likeliest of several) or by index."""
        return self.entities_at([self.index(which)])[0]

    def index(self, which: EntityLike) -> int:
        """Return the index of an entity, given itself, its id, its exact label or its index.

        An entity of another version of the graph is found by its id.
        """
        if isinstance(which, bool) or not isinstance(which, Entity | str | int | np.integer):
            known = "give the entity, its id, its exact label or its index"
            raise TypeError(f"{which!r} is not an entity: {known}")
        if isinstance(which, int | np.integer):
            if not 0 <= which < len(self):
                known = f"indices go from 0 to {len(self) - 1}"
                raise NotFound(f"no entity has the index {which}; {known}")
            return int(which)
        if isinstance(which, Entity):
            if 0 <= which.index < len(self) and self._id_column[which.index] == which.id:
                return which.index
            return self._index_of_id(which.id)
        by_id = int(self.indices_of([which])[0])
        if by_id >= 0:
            return by_id
        labelled = (e.index for e in self.find(which) if e.label == which)
        index = next(labelled, -1)
        if index < 0:
            hint = f"try: kgraft graph search {which!r}"
            raise NotFound(f"no entity has the id or label {which!r}; {hint}")
        return index

    def _index_of_id(self, item: str) -> int:
        index = int(self.indices_of([item])[0])
        if index < 0:
            raise NotFound(f"the graph {self.manifest.name} has no entity {item!r}")
        return index

    @cached_property
    def _id_column(self) -> StringColumn:
        return StringColumn(self.entities["id"])

    def entities_at(self, rows: Iterable[int] | np.ndarray) -> list[Entity]:
        """Return entities by number."""
        wanted = np.fromiter(rows, np.int64)
        columns = ("id", "label", "description", "aliases", "types")
        taken = take_rows(self.entities.select(columns), wanted)
        texts = zip(wanted.tolist(), *(taken[name].to_pylist() for name in columns), strict=True)
        return [
            Entity(row, key, label, description, tuple(aliases), tuple(types))
            for row, key, label, description, aliases, types in texts
        ]

    def relation(self, which: str | int) -> Relation:
        """Return a relation by id, by label, or by number."""
        if isinstance(which, int | np.integer):
            if not 0 <= which < self.manifest.relations:
                raise NotFound(f"no relation has the number {which}")
            return self.all_relations[which]
        number = self._relation_numbers.get(which)
        if number is not None:
            return self.all_relations[number]
        for relation in self.all_relations:
            if relation.label == which:
                return relation
        known = ", ".join(r.id for r in self.all_relations[:8])
        raise NotFound(f"no relation is named {which!r}; the graph has {known}, …")

    @cached_property
    def all_relations(self) -> list[Relation]:
        """All relations in order of their numbers."""
        return [
            Relation(row, r["id"], r["label"], r["description"], r.get("template") or "")
            for row, r in enumerate(self.relations.to_pylist())
        ]

    def candidates(self, name: str) -> list[Candidate]:
        """Return the entities a name may mean, by prior."""
        alias = self.aliases.row(name)
        return [] if alias is None else list(self._candidates([alias])[alias])

    def _candidates(
        self, aliases: Sequence[int], limit: int | None = None
    ) -> dict[int, tuple[Candidate, ...]]:
        """Return the best candidates of each alias; every entity is read once."""
        weighed = {alias: self.aliases.candidates(alias, limit) for alias in aliases}
        rows = {number for entity, _ in weighed.values() for number in entity.tolist()}
        entities = {entity.index: entity for entity in self.entities_at(sorted(rows))}
        return {
            alias: tuple(
                Candidate(entities[number], weight)
                for number, weight in zip(entity.tolist(), prior.tolist(), strict=True)
            )
            for alias, (entity, prior) in weighed.items()
        }

    def find(self, name: str) -> list[Entity]:
        """Return the entities of exactly this name (compared by its folded form), best first."""
        return [candidate.entity for candidate in self.candidates(name)]

    def resolve(self, which: str) -> Entity:
        """Return the entity of an id or, failing that, the likeliest of that name."""
        number = int(self.indices_of([which])[0])
        if number >= 0:
            return self.entity(number)
        found = self.find(which)
        if found:
            return found[0]
        near = ", ".join(f"{f.entity.label} ({f.entity.id})" for f in search_nearby(self, which))
        hint = f"did you mean {near}?" if near else "try: kgraft graph search WORDS"
        raise NotFound(f"nothing in the graph is named {which!r}; {hint}")

    def search(self, query: str, *, limit: int = 10) -> list[Found]:
        """Search: the exact name, its prefixes, its words, similar names, then descriptions."""
        return search_all(self, query, limit=limit)

    def mentions(
        self, text: str, *, overlapping: bool = False, candidates: int | None = 30
    ) -> list[Mention]:
        """Find the names of entities in a text, each with its best candidates."""
        found = self.aliases.find(text, overlapping=overlapping)
        meant = self._candidates(np.unique(found.alias).tolist(), candidates)
        return [Mention(start, end, text[start:end], meant[a]) for start, end, a in found]

    def entities_of_type(self, name: str) -> list[Entity]:
        """Return the entities that carry a type."""
        row, types = list_rows(self.entities["types"])
        return self.entities_at(row[numbers(pc.equal(types, name))])

    def neighbours(
        self,
        entity: EntityLike,
        *,
        relation: str | int | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Neighbour]:
        """Return the far ends of an entity's triples, in order of relation and number."""
        number = self.index(entity)
        rows = self._edge_rows(number, direction)
        if relation is not None:
            rows = rows[self.adjacency.edges[rows, 0] == self.relation(relation).index]
        return self._neighbours(number, rows[:limit])

    def _edge_rows(self, number: int, direction: Direction) -> np.ndarray:
        first, last = self.adjacency.spans(np.array([number]), direction)
        return np.arange(first[0], last[0])

    def _neighbours(self, number: int, rows: np.ndarray) -> list[Neighbour]:
        relation, other = self.adjacency.edges[rows].T
        leaves = rows < self.adjacency.spans(np.array([number]), "out")[1]
        ends = zip(relation.tolist(), self.entities_at(other), leaves.tolist(), strict=True)
        return [Neighbour(self.all_relations[r], e, "out" if out else "in") for r, e, out in ends]

    def literals(self, entity: EntityLike) -> list[Literal]:
        """Return the values of an entity's properties: numbers, dates, texts in a language, …

        Those in other columns of the table of entities come first.
        """
        index = self.index(entity)
        columns = self.column_values.of(index)
        return [*columns, *(self._literal_store.of(index) if self.manifest.literals else ())]

    def _shown_literals(self, entity: Entity) -> list[Literal]:
        """Return the literals that are no names, descriptions or types, which a card has anyway."""
        elsewhere = {*TEXT_FIELDS, f"{PREFIXES['rdf']}type"}
        return [value for value in self.literals(entity) if value.property_id not in elsewhere]

    def find_by_value(self, property_: str, value: Value) -> list[Entity]:
        """Return the entities with this value of a property, given by id, label or column.

        A text is compared as it stands; numbers, dates and booleans by what they mean.
        """
        store = self._literal_store
        properties = store.properties_named(property_)
        columns = self.column_values.table.column_names
        if not properties and property_ not in columns:
            known = ", ".join([*columns, *store.labels][:8]) or "none"
            raise NotFound(f"no property is named {property_!r}; the graph has {known}")
        found = store.find(properties, value)
        if property_ in columns:
            found = np.union1d(found, self.column_values.find(property_, value))
        return self.entities_at(found)

    def card(self, entity: EntityLike, *, limit: int = 20) -> Card:
        """Return what the graph knows about an entity; each relation gets its turn."""
        found = self.entity(entity)
        rows = self._edge_rows(found.index, "both")
        chosen = choose_facts(self.adjacency, found.index, rows, limit)
        near = tuple(self._neighbours(found.index, chosen))
        return Card(found, near, len(rows), tuple(self._shown_literals(found)[:limit]))

    def subgraph(
        self, roots: Iterable[EntityLike], *, hops: int = 1, most: int = 100_000
    ) -> Subgraph:
        """Return all within `hops` triples of the roots (the nearest `most` of it)."""
        numbers = np.array([self.index(root) for root in roots], np.int64)
        return subgraph(self.adjacency, self.triples, numbers, hops, most=most)

    def paths(
        self,
        start: EntityLike,
        end: EntityLike,
        *,
        longest: int = 3,
        limit: int = 100,
    ) -> list[GraphPath]:
        """Return the paths between two entities: shorter first, then through rarer entities."""
        ends = self.index(start), self.index(end)
        found = paths_between(self.adjacency, *ends, longest=longest, limit=limit)
        rows = sorted({index for path in found for index in path.entities})
        entities = dict(zip(rows, self.entities_at(rows), strict=True))
        return [
            GraphPath(
                tuple(entities[index] for index in path.entities),
                tuple(self.all_relations[index] for index in path.relations),
                path.forward,
            )
            for path in found
        ]

    def query(self, patterns: Patterns, *, limit: int | None = None) -> Solutions:
        """Return what the variables of some triple patterns stand for where all patterns hold.

        >>> world = Graph.open("world")
        >>> rows = world.query("?x capital_of ?y . ?y borders Germany")
        >>> sorted(row["x"].label for row in rows)[:3]
        ['Amsterdam', 'Bern', 'Brussels']
        """
        return query_graph(self, patterns, limit=limit)

    # Change

    def extend(
        self,
        target: str | Path,
        source: Source | None = None,
        *,
        triples: Any = None,
        entities: Any = None,
        relations: Any = None,
        literals: Any = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> Graph:
        """Write this graph with additions as a new one: from a source, or from tables or rows.

        Triples are rows of (head, relation, tail) ids, entities and relations mappings with an
        `id`, literals rows of (entity, property, value); or Arrow tables or pandas frames of those
        columns. This graph is not touched.
        """
        from kgraft.graph.change import extend
        from kgraft.graph.io.tables.in_memory import TablesSource

        source = source or TablesSource(triples, entities, relations, literals, undeclared="refuse")
        return extend(self, source, Path(target), overwrite=overwrite, progress=progress)

    def without(
        self,
        target: str | Path,
        *,
        entities: Iterable[Entity | str] = (),
        relations: Iterable[str] = (),
        triples: Iterable[Sequence[str]] = (),
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> Graph:
        """Write this graph without some of its parts as a new one; this one is not touched.

        Entities are given themselves or by id, the other parts by id.
        """
        from kgraft.graph.change import without

        return without(
            self,
            Path(target),
            entities=[e.id if isinstance(e, Entity) else e for e in entities],
            relations=relations,
            triples=triples,
            overwrite=overwrite,
            progress=progress,
        )
