"""The knowledge of any graph: mentions by its names, vectors from anything that gives them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from torch import Tensor

from kgraft.corpus import read_annotated, read_document_names, verbalise_graph
from kgraft.errors import BadInput
from kgraft.graft.graft_texts import GraftTexts
from kgraft.graft.knowledge import KNOWLEDGE
from kgraft.graft.next_sentence import split_pairs
from kgraft.graft.relations import Relations
from kgraft.graft.settings import KnowledgeConfig, TextSettings
from kgraft.graft.windows import locate_mentions
from kgraft.graph import Entity, Graph, Mentions
from kgraft.graph.names import NameMatcher
from kgraft.progress import Progress
from kgraft.text import Encoder
from kgraft.vectors import (
    AncestorVectors,
    CombinedVectors,
    EntityVectors,
    NeighbourVectors,
    TableVectors,
    TextVectors,
    WordVectors,
    same_graph,
)

if TYPE_CHECKING:
    from kgraft.graft.encoder import GraftedEncoder

IN_MEMORY = 1 << 28  # numbers of a matrix that is kept in memory: 1 GB


@KNOWLEDGE.register("graph")
class GraphKnowledge:
    """The names of a graph, and vectors of its entities, brought to the length √size.

    >>> from kgraft.vectors import TextVectors
    >>> world = Graph.open("world")
    >>> knowledge = GraphKnowledge(world, TextVectors(world))
    >>> len(knowledge.find(["Paris is the capital of France."]))
    2
    """

    closed = False  # a name may mean what the graph lacks
    layers_above = 1  # of a host, where no layer is chosen for its graft
    reads_facts = False  # from a file of predicted ones

    def __init__(self, graph: Graph, vectors: EntityVectors, *, name: str | None = None) -> None:
        same_graph(graph, vectors.graph)
        if not len(graph.entities):
            raise BadInput("the graph has no entities", remedy="give one that has some")
        self.graph, self.vectors = graph, vectors
        self.name = name or graph.manifest.name or graph.folder.name
        self.count, self.size = len(graph.entities), vectors.dimension
        self.config: KnowledgeConfig | None = None  # None: it cannot be opened again

    # How it is opened

    @classmethod
    def suits(cls, graph: Graph) -> bool:  # noqa: ARG003
        """Tell whether it is the kind that a graph is opened as where none is named."""
        return False

    @classmethod
    def open(cls, graph: Graph, config: KnowledgeConfig, progress: Progress | None = None) -> Self:
        """Open the knowledge of a graph; what has to be encoded for it is cached."""
        text = TextVectors(graph)
        text.fill(progress=progress)
        parts = cls.vector_parts(graph, text)
        if config.hypernym_relations:
            parts.append(AncestorVectors(graph, config.hypernym_relations))
        parts += [TableVectors.open(folder, graph) for folder in config.vectors]
        knowledge = cls._of(graph, CombinedVectors(parts), config)
        knowledge.config = config
        return knowledge

    @classmethod
    def _of(cls, graph: Graph, vectors: EntityVectors, config: KnowledgeConfig) -> Self:  # noqa: ARG003
        return cls(graph, vectors)

    @classmethod
    def vector_parts(cls, graph: Graph, text: TextVectors) -> list[EntityVectors]:
        """Return the vectors that make an entity's vector, side by side.

        Those of its description, of its name in the words of the default encoder, and the mean
        name of its neighbours.
        """
        words = WordVectors(graph, text.encoder)
        return [text, words, NeighbourVectors(words)]

    def identity(self) -> dict[str, object]:
        """Return name, graph, the size of the vectors, and how it was opened."""
        facts = {
            "name": self.name,
            "version": self.graph.manifest.version,
            "count": self.count,
            "size": self.size,
        }
        return facts if self.config is None else {**facts, "config": self.config.to_dict()}

    # What a graft asks of it

    def find(self, texts: Sequence[str]) -> Mentions:
        """Find the names of entities in texts, overlapping ones too."""
        return self._matcher.find(texts, exact=True)

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, size); zeros below 0."""
        if self._matrix is None:
            return self._scaled(self.vectors.take(entities.clamp_min(-1))).to(entities.device)
        is_entity = entities >= 0
        vectors = torch.nn.functional.embedding(entities.clamp_min(0).cpu(), self._matrix)
        return (vectors * is_entity.cpu()[..., None]).to(entities.device)

    def entities(self, indices: np.ndarray) -> list[Entity]:
        """Return entities by their indices, to show."""
        return self.graph.entities_at(indices)

    @cached_property
    def relations(self) -> Relations:
        """The relations between entities, with vectors from their names."""
        table = self.graph.relations
        pairs = zip(table["label"].to_pylist(), table["id"].to_pylist(), strict=True)
        names = [label or name for label, name in pairs]
        return Relations(self.graph, torch.from_numpy(Encoder.load().encode(names)))

    @cached_property
    def _matcher(self) -> NameMatcher:
        return NameMatcher(self.graph)

    @cached_property
    def _matrix(self) -> Tensor | None:
        """All vectors, where they are few enough."""
        if self.count * self.size > IN_MEMORY:
            return None
        return torch.cat([self._scaled(part) for part in self.vectors.chunks()])

    def _scaled(self, vectors: Tensor) -> Tensor:
        return torch.nn.functional.normalize(vectors, dim=-1) * self.size**0.5

    # What a graft with it is trained on

    def training_texts(
        self,
        encoder: GraftedEncoder,
        layer: int,
        path: Path | None = None,
        settings: TextSettings | None = None,
        *,
        seed: int = 0,
    ) -> GraftTexts:
        """Prepare the texts of a file, or some of the graph's own, for a graft after a layer.

        A tenth of them is held out to validate on.
        """
        settings = settings or TextSettings()
        _refuse_sense_settings(settings)
        data = read_annotated(path, self.graph) if path else verbalise_graph(self.graph, seed=seed)
        train, valid = (
            split_pairs(data, _documents(path), seed=seed)
            if settings.next_sentence
            else data.hold_out(seed=seed)
        )
        return GraftTexts(
            locate_mentions(encoder, train, layer),
            locate_mentions(encoder, valid, layer),
            data.digest(),
            f"{len(train):,} {'pairs of texts' if settings.next_sentence else 'texts'}, "
            f"{len(valid):,} to validate on",
        )


def _refuse_sense_settings(settings: TextSettings) -> None:
    """Refuse settings that only say something of word senses."""
    for name in ("open_vocabulary", "exclude_own_counts"):
        if getattr(settings, name):
            raise BadInput(
                f"{name} is set, but the texts have no annotated word senses",
                remedy="use it with a graph of word senses and texts with lemmas",
            )


def _documents(path: Path | None) -> list[str]:
    """Return the document of each text of a file, for which next sentences can be told."""
    documents = None if path is None else read_document_names(path)
    if documents is None:
        raise BadInput(
            "no two texts that follow one another are of the same document",
            file=None if path is None else str(path),
            remedy="give the texts ids such as doc1.1, doc1.2, or leave next_sentence out",
        )
    return documents
