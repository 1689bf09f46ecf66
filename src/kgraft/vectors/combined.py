"""Combined vectors: several kinds side by side, each of unit length times its weight."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.vectors.entity_vectors import NONE, EntityVectors, same_graph


class CombinedVectors(EntityVectors):
    """The vectors of several parts, end to end: (…, D₁ + D₂ + …).

    Each part is scaled to unit length and then by its weight (1 unless given), so that the cosine
    of two entities is the mean of the parts' cosines, weighed by the squares of the weights. Where
    a part knows nothing it gives zeros.

    | the graph has                       | parts                                             |
    | ----------------------------------- | ------------------------------------------------- |
    | good descriptions, few triples      | text alone                                        |
    | many triples, names without meaning | a trained table alone                             |
    | both                                | both, with weights tried on a validation split    |
    """

    def __init__(
        self, parts: Sequence[EntityVectors], *, weights: Sequence[float] | None = None
    ) -> None:
        if not parts:
            raise BadInput("no vectors to combine", remedy="give at least one kind")
        for part in parts[1:]:
            same_graph(parts[0].graph, part.graph)
        weights = [1.0] * len(parts) if weights is None else [float(w) for w in weights]
        if len(weights) != len(parts) or not all(0 < w < math.inf for w in weights):
            raise BadInput(f"weights are {weights}", remedy=f"give {len(parts)} numbers above 0")
        self.parts, self.weights = tuple(parts), tuple(weights)
        self.graph = parts[0].graph
        self.dimension = sum(part.dimension for part in parts)

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        weighed = zip(self.parts, self.weights, strict=True)
        blocks = [_unit(part.take(entities)) * weight for part, weight in weighed]
        return torch.cat(blocks, dim=1)  # (n, D₁ + D₂ + …)

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        origins = self.parts[0].origin(entities)
        for part in self.parts[1:]:
            unknown = np.flatnonzero(origins == NONE)
            origins[unknown] = part.origin(entities[unknown])
        return origins


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    lengths = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return vectors / torch.where(lengths > 0, lengths, torch.ones(()))
