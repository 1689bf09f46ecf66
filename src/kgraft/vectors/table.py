"""Table vectors: a trained row for each entity, and a way for entities added since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgraft.graph import Graph
from kgraft.vectors.cold_start import ColdStart
from kgraft.vectors.entity_vectors import NONE, ORIGIN, EntityVectors
from kgraft.vectors.folder import StoredVectors, read_vectors
from kgraft.vectors.neighbour_fallback import NeighbourFallback
from kgraft.vectors.trained import TrainedRows

NEIGHBOURS = NeighbourFallback()


class TableVectors(EntityVectors):
    """Vectors trained on a graph, as `kgraft embed train` writes them.

    `graph` may be the graph they were trained on, a later version of it, or another that shares
    at least half of the table's entities. What an entity without a row gets is up to
    `cold_start`: by default the mean of its neighbours; None leaves zeros.

    | unseen entities have            | cold_start=                                         |
    | ------------------------------- | --------------------------------------------------- |
    | triples                         | `NeighbourFallback()`, the default                  |
    | descriptions                    | `TextFallback(TextVectors(graph))`                  |
    | some triples, some descriptions | `FallbackChain(NeighbourFallback(), TextFallback(…))` |
    """

    def __init__(
        self, stored: StoredVectors, graph: Graph, *, cold_start: ColdStart | None = NEIGHBOURS
    ) -> None:
        self.stored, self.graph, self.cold_start = stored, graph, cold_start
        self.trained = TrainedRows(stored, graph)
        self.dimension = self.trained.dimension
        # Empty pages take no memory until an unseen entity is asked for.
        count = len(self.trained.unseen)
        self._filled = np.zeros((count, self.dimension), np.float32)
        self._filled_origin = np.zeros(count, ORIGIN)  # empty: not filled so far

    @classmethod
    def open(
        cls, folder: str | Path, graph: Graph, *, cold_start: ColdStart | None = NEIGHBOURS
    ) -> TableVectors:
        """Open the vectors of a folder, memory-mapped, for a graph."""
        return cls(read_vectors(folder), graph, cold_start=cold_start)

    @property
    def facts(self) -> dict[str, Any]:
        """How the vectors were made: model, settings, seed, figures."""
        return self.stored.facts

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        trained = self.trained.rows(entities) >= 0
        if trained.all():
            return self.trained.take(entities)
        vectors = torch.empty(len(entities), self.dimension)
        vectors[torch.from_numpy(trained)] = self.trained.take(entities[trained])
        filled = self._filled[self._fill(entities[~trained])]
        vectors[torch.from_numpy(~trained)] = torch.from_numpy(filled)
        return vectors

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        trained = self.trained.rows(entities) >= 0
        origin = np.full(len(entities), "trained", ORIGIN)
        origin[~trained] = self._filled_origin[self._fill(entities[~trained])]
        return origin

    def _fill(self, entities: np.ndarray) -> np.ndarray:
        """Fill the rows of unseen entities, each once, and return their rows."""
        rows = np.searchsorted(self.trained.unseen, entities)
        new = np.unique(rows[self._filled_origin[rows] == ""])
        if len(new) and self.cold_start is None:
            self._filled_origin[new] = NONE
        elif len(new) and self.cold_start is not None:
            filled = self.cold_start.fill(self.trained.unseen[new], self.trained)
            self._filled[new] = filled.vectors.numpy()
            self._filled_origin[new] = filled.origin
        return rows
