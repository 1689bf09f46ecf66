"""Knowledge: what an encoder may look up for a text, from any graph.

Mentions with candidates and priors come from the names of a graph, entity vectors from anything
that gives them. A new kind of knowledge is a class with the members of `Knowledge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.graft.relations import Relations
from kgraft.graph import Entity, Graph
from kgraft.graph.names import Named, Names
from kgraft.text import Encoder
from kgraft.vectors import EntityVectors
from kgraft.vectors.entity_vectors import same_graph

IN_MEMORY = 1 << 28  # numbers of a matrix that is held whole: 1 GB


class Knowledge(Protocol):
    """What a graft asks for; entities are numbers below `count`."""

    name: str
    graph: Graph
    count: int  # of entities
    size: int  # of an entity's vector
    closed: bool  # whether of the candidates of a mention one is right for sure

    def find(self, texts: Sequence[str]) -> Named:
        """Find the mentions of texts, with candidates and priors."""
        ...

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, size); zeros below 0."""
        ...

    def entities(self, numbers: np.ndarray) -> list[Entity]:
        """Return entities by their numbers, to show."""
        ...

    @property
    def relations(self) -> Relations:
        """The relations between entities."""
        ...

    def identity(self) -> dict[str, object]:
        """Return what a graft must find again when it is loaded."""
        ...


class GraphKnowledge:
    """The names of a graph, and vectors of its entities, brought to the length √size.

    >>> from kgraft.vectors import TextVectors
    >>> world = Graph.open("world")
    >>> knowledge = GraphKnowledge(world, TextVectors(world))
    >>> len(knowledge.find(["Paris is the capital of France."]))
    2
    """

    closed = False  # a name may mean what the graph lacks

    def __init__(self, graph: Graph, vectors: EntityVectors, *, name: str | None = None) -> None:
        same_graph(graph, vectors.graph)
        if not len(graph.entities):
            raise BadInput("the graph has no entities", remedy="give one that has some")
        self.graph, self.vectors = graph, vectors
        self.name = name or graph.manifest.name or graph.folder.name
        self.count, self.size = len(graph.entities), vectors.dimension
        self.recipe: dict[str, Any] | None = None  # see `recipe`

    @cached_property
    def _names(self) -> Names:
        return Names(self.graph)

    @cached_property
    def _matrix(self) -> Tensor | None:
        """All vectors, where they are few enough."""
        if self.count * self.size > IN_MEMORY:
            return None
        return torch.cat([self._scaled(part) for part in self.vectors.chunks()])

    def _scaled(self, vectors: Tensor) -> Tensor:
        return torch.nn.functional.normalize(vectors, dim=-1) * self.size**0.5

    def find(self, texts: Sequence[str]) -> Named:
        """Find the names of entities in texts, overlapping ones too."""
        return self._names.find(texts)

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, size); zeros below 0."""
        there = entities >= 0
        if self._matrix is None:
            return self._scaled(self.vectors.take(entities.clamp_min(-1))).to(entities.device)
        found = torch.nn.functional.embedding(entities.clamp_min(0).cpu(), self._matrix)
        return (found * there.cpu()[..., None]).to(entities.device)

    def entities(self, numbers: np.ndarray) -> list[Entity]:
        """Return entities by their numbers, to show."""
        return self.graph.entities_at(numbers)

    @cached_property
    def relations(self) -> Relations:
        """The relations between entities, with vectors from their names."""
        said = [label or name for label, name in zip(*self._relation_names(), strict=True)]
        return Relations(self.graph, torch.from_numpy(Encoder.load().encode(said)))

    def _relation_names(self) -> tuple[list[str], list[str]]:
        table = self.graph.relations
        return table["label"].to_pylist(), table["id"].to_pylist()

    def identity(self) -> dict[str, object]:
        """Return name, graph, and the size of the vectors."""
        version = self.graph.manifest.version
        told = {"name": self.name, "version": version, "count": self.count, "size": self.size}
        return told if self.recipe is None else {**told, "recipe": self.recipe}
