"""Cold start: vectors for entities that training has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch

from kgraft.vectors.entity_vectors import NONE, ORIGIN
from kgraft.vectors.trained import TrainedRows


@dataclass(frozen=True)
class ColdStartVectors:
    """Vectors for entities without a trained row; zeros where the origin is "none"."""

    vectors: torch.Tensor  # (n, D) float32
    origin: np.ndarray  # (n,) of text

    @classmethod
    def none(cls, count: int, dimension: int) -> ColdStartVectors:
        """Return zeros: nothing is known."""
        return cls(torch.zeros(count, dimension), np.full(count, NONE, ORIGIN))

    def put(self, rows: np.ndarray, vectors: torch.Tensor, origin: str | np.ndarray) -> None:
        """Set the vectors and origins of some rows."""
        self.vectors[torch.from_numpy(rows)] = vectors
        self.origin[rows] = origin


class ColdStart(ABC):
    """A way to make vectors for entities without a trained row."""

    @abstractmethod
    def fill(self, entities: np.ndarray, trained: TrainedRows) -> ColdStartVectors:
        """Return vectors of the trained kind for (n,) entities of the graph of `trained`."""


@dataclass(frozen=True)
class FallbackChain(ColdStart):
    """Several fallbacks in order: the first that knows an entity gives its vector."""

    fallbacks: tuple[ColdStart, ...]

    def __init__(self, *fallbacks: ColdStart) -> None:
        object.__setattr__(self, "fallbacks", fallbacks)

    def fill(self, entities: np.ndarray, trained: TrainedRows) -> ColdStartVectors:
        """Ask each fallback for what those before it do not know."""
        filled = ColdStartVectors.none(len(entities), trained.dimension)
        for fallback in self.fallbacks:
            rows = np.flatnonzero(filled.origin == NONE)
            if len(rows):
                answer = fallback.fill(entities[rows], trained)
                filled.put(rows, answer.vectors, answer.origin)
        return filled
