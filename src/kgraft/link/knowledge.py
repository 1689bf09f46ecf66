"""What a linker knows of a graph: names, vectors in an index, and facts; with what is added later.

The vectors of all entities are made once and kept in the cache, under the version of the graph and
the encoder. Entities that are added get numbers behind those of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Entity, Graph, build_graph
from kgraft.graph.names import Named, Names
from kgraft.graph.readers.tables import TablesSource
from kgraft.link.candidates import Candidates, find_candidates
from kgraft.link.facts import entity_facts
from kgraft.link.model import POOLING, LinkModel
from kgraft.progress import Progress
from kgraft.text import Encoder
from kgraft.vectors import TextVectors
from kgraft.vectors.entity_text import WITH_FACTS
from kgraft.vectors.index import EntityIndex
from kgraft.vectors.store import cache_folder


class Knowledge:
    """Names, vectors and facts of a graph's entities."""

    def __init__(self, graph: Graph, encoder: str | None, index: EntityIndex) -> None:
        self.graph, self.index, self._encoder_name = graph, index, encoder
        self.names, self.facts = Names(graph), entity_facts(graph)
        self._added: dict[int, Entity] = {}  # by number
        self._rows: dict[str, Mapping[str, Any]] = {}  # what was added, by id
        self._removed: set[str] = set()

    @classmethod
    def of(cls, graph: Graph, model: LinkModel, *, progress: Progress | None = None) -> Knowledge:
        """Open the index of a graph from the cache, or make it."""
        name = f"{graph.manifest.version}-{model.entity_encoder}.safetensors"
        file = cache_folder().parent / "indexes" / name
        index = _cached(file)
        if index is None:
            vectors = text_vectors(graph, model.config.encoder)
            vectors.fill(progress=progress)
            index = EntityIndex.build(vectors.chunks, len(vectors), vectors.dimension)
            with suppress(OSError):  # a cache that may not be written: the index stays in memory
                index.save(file)
                index = EntityIndex.open(file)
        return cls(graph, model.config.encoder, index)

    @cached_property
    def _encoder(self) -> Encoder:
        """The encoder of the entities' texts, loaded when something is added."""
        return Encoder.load(self._encoder_name)

    def candidates(
        self, named: Named, rows: np.ndarray, vectors: torch.Tensor, searched: np.ndarray
    ) -> Candidates:
        """Return the candidates of spans; see `find_candidates`."""
        return find_candidates(named, rows, vectors, searched, self.index, self.facts)

    def vectors(self, candidates: Candidates) -> torch.Tensor:
        """Return the vectors of candidates, (S, K, D); zeros where padded."""
        there = ~candidates.padding
        vectors = torch.zeros(*there.shape, self.index.dimension)
        vectors[there] = self.index.take(candidates.entity[there.numpy()])
        return vectors

    def entities(self, numbers: np.ndarray) -> dict[int, Entity]:
        """Return entities by their numbers."""
        wanted = np.unique(numbers[numbers >= 0])
        old = wanted[~np.isin(wanted, list(self._added))]
        found = self.graph.entities_at(old)
        new = {n: self._added[n] for n in wanted.tolist() if n in self._added}
        return {entity.index: entity for entity in found} | new

    # Change

    def add(self, entities: Iterable[Mapping[str, Any]]) -> None:
        """Add entities, each a mapping with an id; of one that is there, what is given changes."""
        new = {_id(entity): self._onto_old(entity) for entity in entities}
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

    def _onto_old(self, entity: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an entity with what the graph knows of it besides, as `Graph.extend` has it."""
        [number] = self.graph.numbers_of([_id(entity)])
        if number < 0:
            return entity
        known = self.graph.entity(int(number))
        lists = {"aliases": list(known.aliases), "types": list(known.types)}
        return {"label": known.label, "description": known.description, **lists, **entity}

    def _take_in(self, added: Graph) -> None:
        """Use a small graph that holds all that was added."""
        numbers = self._numbers(added.entities["id"].to_pylist())
        unknown = numbers < 0
        numbers[unknown] = len(self.facts) + np.arange(unknown.sum())
        vectors = text_vectors(added, self._encoder)
        self.index.add(numbers, vectors.all())
        self.names.add(added, numbers)
        facts = np.zeros((max(len(self.facts), numbers.max() + 1), 3), np.float32)
        facts[: len(self.facts)] = self.facts
        facts[numbers] = entity_facts(added)
        self.facts = facts
        found = zip(numbers.tolist(), added.entities_at(np.arange(len(numbers))), strict=True)
        self._added |= {number: replace(entity, index=number) for number, entity in found}

    def remove(self, ids: Iterable[str]) -> None:
        """Take entities out; nothing links to them any more."""
        gone = list(ids)
        numbers = self._numbers(gone)
        unknown = [name for name, number in zip(gone, numbers, strict=True) if number < 0]
        if unknown:
            raise NotFound(f"no entity has the id {unknown[0]!r}")
        self.names.remove(numbers)
        self.index.remove(numbers)
        self._removed |= set(gone)
        for name in gone:
            self._rows.pop(name, None)

    def _numbers(self, ids: list[str]) -> np.ndarray:
        """Return the numbers of ids, -1 where there is none."""
        numbers = self.graph.numbers_of(ids)
        own = {entity.id: number for number, entity in self._added.items()}
        return np.array([own.get(i, int(n)) for i, n in zip(ids, numbers, strict=True)], np.int64)

    def save(self, target: Path, *, progress: Progress | None = None) -> Graph:
        """Write the graph with all that changed as a new version, and return it opened."""
        gone = [name for name in self._removed if self.graph.numbers_of([name])[0] >= 0]
        if not gone:
            return self.graph.extend(target, entities=list(self._rows.values()), progress=progress)
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent) as folder:
            rest = self.graph.without(Path(folder) / "rest", entities=gone, progress=progress)
            return rest.extend(target, entities=list(self._rows.values()), progress=progress)


def _cached(file: Path) -> EntityIndex | None:
    """Return the index of a file; what is damaged counts as absent."""
    try:
        return EntityIndex.open(file) if file.exists() else None
    except BadInput:
        return None


def _id(entity: Mapping[str, Any]) -> str:
    if not entity.get("id"):
        raise BadInput("an entity has no id", remedy='give {"id": "…", "label": "…"}')
    return str(entity["id"])


def text_vectors(graph: Graph, encoder: Encoder | str | None) -> TextVectors:
    """Return the frozen vectors of a graph's entities."""
    return TextVectors(graph, encoder, fields=WITH_FACTS, pooling=POOLING)
