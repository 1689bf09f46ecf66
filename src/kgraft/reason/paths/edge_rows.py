"""Edges as rows: those that a node hears along, and those that it is heard along."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

PARTS = 8  # that the rows are cut into; fixed, so that sums come out alike on any machine


@dataclass(frozen=True)
class EdgeRows:
    """Edges (node, relation, neighbour) by node, and again by neighbour."""

    bounds: np.ndarray  # (N + 1,) int64
    neighbour: np.ndarray  # (E,) int32, ascending within a row
    relation: np.ndarray  # (E,) int32
    back_bounds: np.ndarray  # (N + 1,) int64: the same edges by their neighbour
    hearer: np.ndarray  # (E,) int32, ascending within a row
    back_relation: np.ndarray  # (E,) int32

    @classmethod
    def of(
        cls, node: np.ndarray, relation: np.ndarray, neighbour: np.ndarray, nodes: int
    ) -> EdgeRows:
        """Sort edges by node, and by neighbour."""
        own = np.lexsort((relation, neighbour, node))
        back = np.lexsort((relation, node, neighbour))
        return cls(
            row_bounds(np.bincount(node, minlength=nodes)),
            neighbour[own].astype(np.int32),
            relation[own].astype(np.int32),
            row_bounds(np.bincount(neighbour, minlength=nodes)),
            node[back].astype(np.int32),
            relation[back].astype(np.int32),
        )

    def __len__(self) -> int:
        return len(self.neighbour)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.bounds) - 1

    @cached_property
    def parts(self) -> np.ndarray:
        """Where to cut the nodes so that all parts have about as many edges, (PARTS + 1,)."""
        return _cuts(self.bounds)

    @cached_property
    def back_parts(self) -> np.ndarray:
        """The same for the edges by their neighbour."""
        return _cuts(self.back_bounds)


def row_bounds(lengths: np.ndarray) -> np.ndarray:
    """Return where rows of these lengths begin and end, (N + 1,)."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def _cuts(bounds: np.ndarray) -> np.ndarray:
    work = bounds + np.arange(len(bounds))  # a node costs something without edges, too
    return np.searchsorted(work, np.linspace(0, work[-1], PARTS + 1)).clip(max=len(bounds) - 1)
