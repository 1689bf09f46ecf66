"""The graph: a folder opened for reading, memory-mapped, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from kgraft.columns import list_rows, numbers
from kgraft.errors import NotFound
from kgraft.graph.adjacency import Direction
from kgraft.graph.batches import SPLITS, Source, Split
from kgraft.graph.cards import edge_rows, make_card, neighbours_at
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
from kgraft.graph.folder import read_manifest, read_tables
from kgraft.graph.literals import Literal, Value
from kgraft.graph.lookup import candidates_by_alias, find_index, find_relation, resolve_name
from kgraft.graph.paths import Fact, Subgraph, graph_paths, path_of, subgraph
from kgraft.graph.query import Patterns, Solutions, query_graph
from kgraft.graph.search import search_all
from kgraft.graph.stored import StoredGraph
from kgraft.notebook import html_block
from kgraft.progress import Progress

ENTITIES_AT_ONCE = 4096  # read together by iteration


class Graph(StoredGraph):
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

    @classmethod
    def open(cls, name: str | Path = "world") -> Graph:
        """Open a graph by its folder, or a built-in one by its name, and verify its manifest."""
        folder = cls.locate(name)
        manifest = read_manifest(folder)
        return cls(folder, manifest, read_tables(folder))

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

    # Look-ups

    def entity(self, which: EntityLike) -> Entity:
        """Return an entity by id, by exact label (the likeliest of several) or by index."""
        return self.entities_at([self.index(which)])[0]

    def index(self, which: EntityLike) -> int:
        """Return the index of an entity, given itself, its id, its exact label or its index.

        An entity of another version of the graph is found by its id.
        """
        return find_index(self, which)

    def relation(self, which: str | int) -> Relation:
        """Return a relation by id, by label, or by index."""
        return find_relation(self, which)

    def candidates(self, name: str) -> list[Candidate]:
        """Return the entities a name may mean, by prior."""
        alias = self.aliases.row(name)
        return [] if alias is None else list(candidates_by_alias(self, [alias])[alias])

    def find(self, name: str) -> list[Entity]:
        """Return the entities of exactly this name (compared by its folded form), best first."""
        return [candidate.entity for candidate in self.candidates(name)]

    def resolve(self, which: str) -> Entity:
        """Return the entity of an id or, failing that, the likeliest of that name."""
        return resolve_name(self, which)

    def search(self, query: str, *, limit: int = 10) -> list[Found]:
        """Search: the exact name, its prefixes, its words, similar names, then descriptions."""
        return search_all(self, query, limit=limit)

    def mentions(
        self, text: str, *, overlapping: bool = False, candidates: int | None = 30
    ) -> list[Mention]:
        """Find the names of entities in a text, each with its best candidates."""
        matches = self.aliases.find(text, overlapping=overlapping)
        by_alias = candidates_by_alias(self, np.unique(matches.alias).tolist(), candidates)
        return [
            Mention(start, end, text[start:end], by_alias[alias]) for start, end, alias in matches
        ]

    def entities_of_type(self, name: str) -> list[Entity]:
        """Return the entities that carry a type."""
        row, types = list_rows(self.entities["types"])
        return self.entities_at(row[numbers(pc.equal(types, name))])

    def literals(self, entity: EntityLike) -> list[Literal]:
        """Return the values of an entity's properties: numbers, dates, texts in a language, …

        Those in other columns of the table of entities come first.
        """
        index = self.index(entity)
        columns = self.column_values.of(index)
        return [*columns, *(self.literal_store.of(index) if self.manifest.literals else ())]

    def find_by_value(self, property_: str, value: Value) -> list[Entity]:
        """Return the entities with this value of a property, given by id, label or column.

        A text is compared as it stands; numbers, dates and booleans by what they mean.
        """
        store = self.literal_store
        properties = store.properties_named(property_)
        columns = self.column_values.table.column_names
        if not properties and property_ not in columns:
            names = ", ".join([*columns, *store.labels][:8]) or "none"
            raise NotFound(f"no property is named {property_!r}; the graph has {names}")
        indices = store.find(properties, value)
        if property_ in columns:
            indices = np.union1d(indices, self.column_values.find(property_, value))
        return self.entities_at(indices)

    # Walking

    def neighbours(
        self,
        entity: EntityLike,
        *,
        relation: str | int | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Neighbour]:
        """Return the far ends of an entity's triples, in order of relation and index."""
        index = self.index(entity)
        rows = edge_rows(self.adjacency, index, direction)
        if relation is not None:
            rows = rows[self.adjacency.edges[rows, 0] == self.relation(relation).index]
        return neighbours_at(self, index, rows[:limit])

    def card(self, entity: EntityLike, *, limit: int = 20) -> Card:
        """Return what the graph says about an entity; each relation gets its turn."""
        return make_card(self, self.entity(entity), limit)

    def subgraph(
        self, roots: Iterable[EntityLike], *, hops: int = 1, most: int = 100_000
    ) -> Subgraph:
        """Return all within `hops` triples of the roots (the nearest `most` of it)."""
        indices = np.array([self.index(root) for root in roots], np.int64)
        return subgraph(self.adjacency, self.triples, indices, hops, most=most)

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
        return graph_paths(self, *ends, longest=longest, limit=limit)

    def path_of(self, start: EntityLike, facts: Iterable[Fact]) -> GraphPath:
        """Return a chain of facts, given by index, that begins at an entity."""
        return path_of(self, self.index(start), facts)

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
        triples: object = None,
        entities: object = None,
        relations: object = None,
        literals: object = None,
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
