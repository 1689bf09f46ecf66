"""No memory at all: descriptions are read when they are asked for, to compare a memory with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Graph
from kgraft.joint import Descriptions, Language
from kgraft.vectors.memory import Memory


class LiveMemory(Memory):
    """What is taken of it was read just now; gradients reach the encoder."""

    def __init__(self, folder: Path, graph: Graph, language: Language) -> None:
        counts = {"entities": len(graph.entities), "relations": len(graph.relations)}
        super().__init__(folder, **counts, size=language.encoder.dimension)
        self.descriptions = Descriptions(graph, language)
        self.version = 1 << 30  # always as new as a schedule asks for
        self._relations: Tensor | None = None

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, F); zeros below 0."""
        distinct, place = np.unique(entities.numpy(), return_inverse=True)
        read = self.descriptions.vectors(*self.descriptions.said("entities", distinct.clip(0)))
        read = read * torch.from_numpy(distinct >= 0)[:, None]
        return read[torch.from_numpy(place.reshape(entities.shape))]

    @property
    def relations(self) -> Tensor:
        """The vectors of all relations, (R, F), read once a step: until gradients come back."""
        if self._relations is None:
            rows = np.arange(self.counts["relations"])
            read = self.descriptions.vectors(*self.descriptions.said("relations", rows))
            if not read.requires_grad:
                return read
            read.register_hook(self._forget)  # type: ignore[no-untyped-call]
            self._relations = read
        return self._relations

    def _forget(self, _: Tensor) -> None:
        self._relations = None
