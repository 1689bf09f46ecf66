"""Memories for joint pre-training that `fit` does not make: a given one, and none at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Graph
from kgraft.joint import Descriptions, JointTask, Language
from kgraft.progress import Silent
from kgraft.vectors import Memory


def set_up_with(task: JointTask, memory: Memory) -> None:
    """Prepare a task for steps outside of `fit`, with a memory instead of its own."""
    task.set_up(memory.folder, Silent())
    task.memory = task.graph_losses.memory = memory


class LiveMemory(Memory):
    """No memory: descriptions are read when they are taken, and gradients reach the encoder."""

    def __init__(self, folder: Path, graph: Graph, language: Language) -> None:
        super().__init__(
            folder,
            entities=len(graph.entities),
            relations=len(graph.relations),
            size=language.encoder.dimension,
        )
        self.descriptions = Descriptions(graph, language)
        self.version = 1 << 30  # always as new as a schedule asks for
        self._relations: Tensor | None = None

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, F); zeros below 0."""
        distinct, row = np.unique(entities.numpy(), return_inverse=True)
        read = self.descriptions.vectors(*self.descriptions.texts("entities", distinct.clip(0)))
        read = read * torch.from_numpy(distinct >= 0)[:, None]
        return read[torch.from_numpy(row.reshape(entities.shape))]

    @property
    def relations(self) -> Tensor:
        """The vectors of all relations, (R, F), read once a step: until gradients come back."""
        if self._relations is None:
            rows = np.arange(self.counts["relations"])
            read = self.descriptions.vectors(*self.descriptions.texts("relations", rows))
            if not read.requires_grad:
                return read
            read.register_hook(self._forget)  # type: ignore[no-untyped-call]
            self._relations = read
        return self._relations

    def _forget(self, _: Tensor) -> None:
        self._relations = None
