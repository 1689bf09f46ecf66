"""Table vectors: a trained row for each entity, and a way for entities added since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgraft.graph import Graph
from kgraft.vectors.entity_vectors import NONE, ORIGIN, EntityVectors
from kgraft.vectors.folder import StoredVectors, read_vectors
from kgraft.vectors.neighbours import FromNeighbours
from kgraft.vectors.trained import TrainedRows
from kgraft.vectors.unseen import Unseen

NEIGHBOURS = FromNeighbours()


class TableVectors(EntityVectors):
    """Vectors trained on a graph, as `kgraft embed train` writes them.

    `graph` may be the graph they were trained on, a later version of it, or another that shares
    at least half of the table's entities. What an entity without a row gets is up to `unseen`: by
    default the mean of its neighbours; None leaves zeros.

    | unseen entities have                 | unseen=                                            |
    | ------------------------------------ | -------------------------------------------------- |
    | triples                              | `FromNeighbours()`, the default                    |
    | descriptions                         | `FromText(TextVectors(graph))`                     |
    | some triples, some descriptions      | `InOrder(FromNeighbours(), FromText(…))`           |
    """

    def __init__(
        self, stored: StoredVectors, graph: Graph, *, unseen: Unseen | None = NEIGHBOURS
    ) -> None:
        self.stored, self.graph, self.unseen = stored, graph, unseen
        self.trained = TrainedRows(stored, graph)
        self.dimension = self.trained.dimension
        # Empty pages take no memory until an unseen entity is asked for.
        count = len(self.trained.unseen)
        self._found = np.zeros((count, self.dimension), np.float32)
        self._found_origin = np.zeros(count, ORIGIN)  # empty: not looked for so far

    @classmethod
    def open(
        cls, folder: str | Path, graph: Graph, *, unseen: Unseen | None = NEIGHBOURS
    ) -> TableVectors:
        """Open the vectors of a folder, memory-mapped, for a graph."""
        return cls(read_vectors(folder), graph, unseen=unseen)

    @property
    def facts(self) -> dict[str, Any]:
        """What the writer said about the vectors: model, settings, seed, figures."""
        return self.stored.facts

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        known = self.trained.rows(entities) >= 0
        if known.all():
            return self.trained.take(entities)
        vectors = torch.empty(len(entities), self.dimension)
        vectors[torch.from_numpy(known)] = self.trained.take(entities[known])
        found = self._found[self._look(entities[~known])]
        vectors[torch.from_numpy(~known)] = torch.from_numpy(found)
        return vectors

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        known = self.trained.rows(entities) >= 0
        origin = np.full(len(entities), "trained", ORIGIN)
        origin[~known] = self._found_origin[self._look(entities[~known])]
        return origin

    def _look(self, entities: np.ndarray) -> np.ndarray:
        """Return where unseen entities stand among the unseen, each looked for once."""
        places = np.searchsorted(self.trained.unseen, entities)
        new = np.unique(places[self._found_origin[places] == ""])
        if len(new) and self.unseen is None:
            self._found_origin[new] = NONE
        elif len(new) and self.unseen is not None:
            filled = self.unseen.fill(self.trained.unseen[new], self.trained)
            self._found[new] = filled.vectors.numpy()
            self._found_origin[new] = filled.origin
        return places
