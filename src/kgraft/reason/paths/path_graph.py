"""A graph as the reasoner reads it: edges in both directions, and how relations meet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from kgraft.graph import TripleArrays
from kgraft.reason.paths.edge_rows import EdgeRows
from kgraft.reason.paths.relation_graph import relation_graph


@dataclass(frozen=True)
class PathGraph:
    """Triples as edges: (head, r, tail), and (tail, R + r, head)."""

    triples: np.ndarray  # (T, 3) int64
    entities: int  # N
    relations: int  # R
    edges: EdgeRows  # of the N entities
    relation_edges: EdgeRows  # of the 2R relations

    @classmethod
    def of(cls, triples: np.ndarray, entities: int, relations: int) -> PathGraph:
        """Build the edges of triples (T, 3)."""
        head, relation, tail = triples.T
        node, neighbour = np.concatenate([head, tail]), np.concatenate([tail, head])
        kind = np.concatenate([relation, relation + relations])
        meets = relation_graph(node, kind, neighbour, entities=entities, relations=relations)
        edges = EdgeRows.of(node, kind, neighbour, entities)
        return cls(triples, entities, relations, edges, meets)

    @classmethod
    def of_arrays(cls, triples: TripleArrays, entities: int, relations: int) -> PathGraph:
        """Build the edges of a graph's triples."""
        columns = (triples.head, triples.relation, triples.tail)
        return cls.of(np.stack(columns, axis=1).astype(np.int64), entities, relations)

    @cached_property
    def relation_counts(self) -> csr_array:
        """How many edges of each relation or inverse each entity has, (N, 2R)."""
        node = np.repeat(np.arange(self.entities), np.diff(self.edges.bounds))
        ones = np.ones(len(node), np.float32)
        size = (self.entities, 2 * self.relations)
        return csr_array((ones, (node, self.edges.relation)), shape=size)

    def relation_sums(self, vectors: Tensor) -> Tensor:
        """Return Σ_r log(1 + count_r(v)) · vectors[r] of each entity, (N, D) of (2R, D)."""
        sums: Tensor = _SparseProduct.apply(self._log_counts, vectors)  # type: ignore[no-untyped-call]
        return sums

    @cached_property
    def _log_counts(self) -> csr_array:
        counts = self.relation_counts.copy()
        counts.data = np.log1p(counts.data)
        return counts

    @cached_property
    def degree_weights(self) -> Tensor:
        """Return log(1 + degree) of each entity, (N,)."""
        degrees = np.diff(self.edges.bounds).astype(np.float32)
        return torch.from_numpy(np.log1p(degrees))


class _SparseProduct(torch.autograd.Function):
    """A sparse matrix times a dense one; torch's own sparse tensors are slow to make and warn."""

    @staticmethod
    def forward(ctx: Any, matrix: csr_array, dense: Tensor) -> Tensor:  # noqa: ANN401
        ctx.matrix = matrix
        return torch.from_numpy(matrix @ dense.detach().numpy())

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[None, Tensor]:  # noqa: ANN401
        return None, torch.from_numpy(ctx.matrix.T @ slope.numpy())
