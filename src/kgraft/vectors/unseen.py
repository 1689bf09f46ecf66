"""Vectors for entities that training has not seen: the interface, and trying ways in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch

from kgraft.vectors.entity_vectors import NONE, ORIGIN
from kgraft.vectors.trained import TrainedRows


@dataclass(frozen=True)
class Filled:
    """Vectors found for entities without a trained row; zeros where the origin is "none"."""

    vectors: torch.Tensor  # (n, D) float32
    origin: np.ndarray  # (n,) of text

    @classmethod
    def none(cls, count: int, dimension: int) -> Filled:
        """Return zeros: nothing is known."""
        return cls(torch.zeros(count, dimension), np.full(count, NONE, ORIGIN))

    def put(self, places: np.ndarray, vectors: torch.Tensor, origin: str | np.ndarray) -> None:
        """Take vectors in at some places."""
        self.vectors[torch.from_numpy(places)] = vectors
        self.origin[places] = origin


class Unseen(ABC):
    """A way to find vectors for entities without a trained row."""

    @abstractmethod
    def fill(self, entities: np.ndarray, trained: TrainedRows) -> Filled:
        """Return vectors of the trained kind for (n,) entities of the graph of `trained`."""


@dataclass(frozen=True)
class InOrder(Unseen):
    """Several ways, tried in order: the first that knows an entity gives its vector."""

    ways: tuple[Unseen, ...]

    def __init__(self, *ways: Unseen) -> None:
        object.__setattr__(self, "ways", ways)

    def fill(self, entities: np.ndarray, trained: TrainedRows) -> Filled:
        """Ask each way for what those before it do not know."""
        filled = Filled.none(len(entities), trained.dimension)
        for way in self.ways:
            places = np.flatnonzero(filled.origin == NONE)
            if len(places):
                found = way.fill(entities[places], trained)
                filled.put(places, found.vectors, found.origin)
        return filled
