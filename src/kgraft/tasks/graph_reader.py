"""What a joint model knows of the entities of a graph, as a reader for tasks without a text."""

from __future__ import annotations

from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.joint import FineTuning, JointModel
from kgraft.vectors import Memory

AT_ONCE = 1024  # entities that are read together


class GraphReader(nn.Module):
    """Reads entities; without `use_knowledge` only their texts, not their neighbourhoods."""

    def __init__(
        self, model: JointModel, graph: Graph, memory: Memory, *, use_knowledge: bool = True
    ) -> None:
        super().__init__()
        self.knowledge = model.knowledge if use_knowledge else None
        self._model, self._graph, self._memory = [model], graph, memory  # not trained as a whole

    @classmethod
    def of(cls, tuning: FineTuning) -> Self:
        """Return the reader of a fine-tuning."""
        return cls(tuning.model, tuning.graph, tuning.memory, use_knowledge=tuning.use_knowledge)

    def forward(
        self, entities: np.ndarray, *, seed: int, hidden: np.ndarray | None = None
    ) -> Tensor:
        """Return the vectors of entities, (n, F); facts with those of `hidden` are not seen."""
        if self.knowledge is None:
            return self._memory.take(torch.from_numpy(entities))
        return self._model[0].entity_vectors(
            self._graph, self._memory, entities, seed=seed, hidden=hidden
        )
