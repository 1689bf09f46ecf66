"""What a linker knows of a graph: names, features, and vectors of entities, made when needed.

Nothing is encoded when a graph is opened. The vectors of candidates are made when they are first
looked at and kept in the cache; the index for searching by meaning is built on request. Entities
that are added get indices behind those of the graph.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Entity, Graph, TablesSource, build_graph
from kgraft.graph.names import NameMatcher
from kgraft.link.features import FeatureReader
from kgraft.link.learned_names import LearnedName
from kgraft.link.neighbours import NeighbourIndex
from kgraft.progress import Progress
from kgraft.result_cache import ResultCache
from kgraft.text import Encoder
from kgraft.vectors import ENTITY_FIELDS, TextVectors

if TYPE_CHECKING:
    from kgraft.link.model import LinkModel

ENTITIES = 8192  # of the graph that are kept once they were read


class Knowledge:
    """Names, features and vectors of a graph's entities, with what was added and removed since."""

    def __init__(self, graph: Graph, encoder: Encoder) -> None:
        self.graph, self.encoder = graph, encoder
        self.matcher, self.features = NameMatcher(graph), FeatureReader(graph)
        self.text_vectors = entity_text_vectors(graph, encoder)
        self.index = NeighbourIndex.open(graph, encoder)  # None until it is built
        self._added: dict[int, Entity] = {}  # by index
        self._added_vectors = torch.zeros(0, encoder.dimension)
        self._rows: dict[str, Mapping[str, Any]] = {}  # what was added, by id
        self._removed: set[str] = set()
        self._pinned: dict[str, str] = {}
        self._stored_entities = ResultCache[int, Entity](graph.entities_at, ENTITIES)

    @classmethod
    def of(cls, graph: Graph, model: LinkModel) -> Self:
        """Return the knowledge of a graph for a model, with the names that it learnt."""
        knowledge = cls(graph, model.entity_encoder)
        knowledge.learn(model.names)
        return knowledge

    @property
    def version(self) -> str:
        """A name for the graph together with all that was pinned, added and removed."""
        changes = [self._pinned, list(self._rows.values()), sorted(self._removed)]
        version = self.graph.manifest.version
        if not any(changes):
            return version
        content = json.dumps(changes, sort_keys=True, default=str)
        return f"{version}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def vectors(self, entities: np.ndarray) -> Tensor:
        """Return the vectors of entities (n,), (n, D); those not in the cache are encoded now."""
        stored = entities < len(self.graph.entities)
        if stored.all() and not self._added:
            return self.text_vectors.take(entities)
        vectors = torch.zeros(len(entities), self.encoder.dimension)
        added = np.isin(entities, list(self._added))
        rows = np.flatnonzero(~added)
        vectors[torch.from_numpy(rows)] = self.text_vectors.take(entities[rows])
        order = {index: row for row, index in enumerate(self._added)}
        for row in np.flatnonzero(added).tolist():
            vectors[row] = self._added_vectors[order[int(entities[row])]]
        return vectors

    def entities(self, indices: np.ndarray) -> dict[int, Entity]:
        """Return entities by their indices."""
        distinct, added = set(indices.tolist()), self._added
        stored = [index for index in distinct if index not in added]
        by_index = dict(zip(stored, self._stored_entities(stored), strict=True))
        return by_index | {index: added[index] for index in distinct if index in added}

    def build_index(self, *, static: bool = False, progress: Progress | None = None) -> None:
        """Build the index for searching by meaning, and keep it in the cache."""
        index = NeighbourIndex.build(self.text_vectors, static=static, progress=progress)
        index.add(np.array(list(self._added), np.int64), self._added_vectors)
        index.remove(self._indices(sorted(self._removed)))
        self.index = index

    # Change

    def pin(self, names: Mapping[str, str]) -> None:
        """Let names mean one entity each, by its id, whatever else they may mean."""
        indices = self._indices(list(names.values()))
        for entity, index in zip(names.values(), indices, strict=True):
            if index < 0:
                raise NotFound(f"no entity has the id {entity!r}")
        self.matcher.pin(dict(zip(names, indices.tolist(), strict=True)))
        self._pinned = dict(names)

    def learn(self, names: Iterable[LearnedName]) -> None:
        """Find entities by names that a linker learnt too; those of other graphs are ignored."""
        learned = list(names)
        indices = self._indices([name.entity for name in learned])
        rows = np.flatnonzero(indices >= 0)
        counts = np.array([name.times for name in learned], np.int64)
        self.matcher.learn([learned[row].name for row in rows], indices[rows], counts[rows])

    def add(self, entities: Iterable[Mapping[str, Any]]) -> None:
        """Add entities, each a mapping with an id; of one that is there, what is given changes."""
        new = {_id(entity): self._with_stored_fields(entity) for entity in entities}
        if not new:
            return
        rows = self._rows | new
        # What is mapped stays readable when its file is gone; where it does not, the file stays.
        with TemporaryDirectory(prefix="kgraft-", ignore_cleanup_errors=True) as room:
            folder = Path(room) / "added"
            build_graph(TablesSource(entities=list(rows.values())), folder)
            self._take_in(Graph.open(folder))
        self._rows = rows
        self._removed -= new.keys()

    def _with_stored_fields(self, entity: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an entity together with what the graph says of it, as `Graph.extend` does."""
        [index] = self.graph.indices_of([_id(entity)])
        if index < 0:
            return entity
        stored = self.graph.entity(int(index))
        lists = {"aliases": list(stored.aliases), "types": list(stored.types)}
        return {"label": stored.label, "description": stored.description, **lists, **entity}

    def _take_in(self, added: Graph) -> None:
        """Use a small graph that holds all that was added."""
        indices = self._indices(added.entities["id"].to_pylist())
        unknown = indices < 0
        next_index = max([len(self.graph.entities), *(i + 1 for i in self._added)])
        indices[unknown] = next_index + np.arange(unknown.sum())
        vectors = entity_text_vectors(added, self.encoder).all()
        self.matcher.add(added, indices)
        if self.index is not None:
            self.index.add(indices, vectors)
        entities = added.entities_at(np.arange(len(indices)))
        pairs = zip(indices.tolist(), entities, strict=True)
        self._added = {index: replace(entity, index=index) for index, entity in pairs}
        self._added_vectors = vectors

    def remove(self, ids: Iterable[str]) -> None:
        """Take entities out; nothing links to them any more."""
        names = list(ids)
        indices = self._indices(names)
        for name, index in zip(names, indices, strict=True):
            if index < 0:
                raise NotFound(f"no entity has the id {name!r}")
        self.matcher.remove(indices)
        if self.index is not None:
            self.index.remove(indices)
        self._removed |= set(names)
        for name in names:
            self._rows.pop(name, None)

    def _indices(self, ids: list[str]) -> np.ndarray:
        """Return the indices of ids, -1 where there is none."""
        indices = self.graph.indices_of(ids)
        own = {entity.id: index for index, entity in self._added.items()}
        return np.array([own.get(i, int(n)) for i, n in zip(ids, indices, strict=True)], np.int64)

    def save(self, target: Path, *, progress: Progress | None = None) -> Graph:
        """Write the graph with all that changed as a new version, and return it opened."""
        rows = list(self._rows.values())
        gone = [name for name in self._removed if self.graph.indices_of([name])[0] >= 0]
        if not gone:
            return self.graph.extend(target, entities=rows, progress=progress)
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent) as folder:
            rest = self.graph.without(Path(folder) / "rest", entities=gone, progress=progress)
            return rest.extend(target, entities=rows, progress=progress)


def _id(entity: Mapping[str, Any]) -> str:
    if not entity.get("id"):
        raise BadInput("an entity has no id", remedy='give {"id": "…", "label": "…"}')
    return str(entity["id"])


def entity_text_vectors(graph: Graph, encoder: Encoder) -> TextVectors:
    """Return the vectors of a graph's entities from their texts."""
    return TextVectors(graph, encoder, fields=ENTITY_FIELDS)
