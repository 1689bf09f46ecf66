"""Trained rows, seen from a graph: which of its entities and relations have one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.vectors.folder import StoredVectors

SAMPLED = 20_000  # rows that represent all


class TrainedRows:
    """The rows of a table by the indices of a graph, which may be a later or another one.

    Where the graph is the one that was trained on, its indices are the rows. Otherwise rows are
    found by id, and entities without one are unseen.
    """

    def __init__(self, stored: StoredVectors, graph: Graph) -> None:
        self.graph, self.vectors = graph, stored.entities
        self._row: np.ndarray | None = None
        same = stored.config.version == graph.manifest.version
        if not same or len(stored.entities) != len(graph.entities):
            self._row = _rows_by_id(stored, graph)
        self.relations = _relations_by_id(stored, graph)  # (R,) rows of the graph's relations or -1

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.vectors.shape[1]

    @property
    def in_order(self) -> bool:
        """Whether the graph's indices are the rows."""
        return self._row is None

    def rows(self, entities: np.ndarray) -> np.ndarray:
        """Return the row of each entity, -1 for an unseen one."""
        return entities if self._row is None else self._row[entities]

    def take(self, entities: np.ndarray) -> torch.Tensor:
        """Return the vectors of entities that have a row, (n, D)."""
        return self.vectors.index_select(0, torch.from_numpy(self.rows(entities)))

    @cached_property
    def unseen(self) -> np.ndarray:
        """The entities of the graph without a row."""
        return np.flatnonzero(self.rows(np.arange(len(self.graph.entities))) < 0)

    def sample(self, most: int = SAMPLED) -> np.ndarray:
        """Return entities with a row, `most` drawn at random where there are more."""
        trained = np.flatnonzero(self.rows(np.arange(len(self.graph.entities))) >= 0)
        if len(trained) <= most:
            return trained
        return np.sort(np.random.default_rng(0).choice(trained, most, replace=False))

    @cached_property
    def usual_length(self) -> float:
        """The median length of a trained vector (of a sample)."""
        lengths = torch.linalg.vector_norm(self.take(self.sample()), dim=1)
        return float(lengths.median()) if len(lengths) else 0.0


def _rows_by_id(stored: StoredVectors, graph: Graph) -> np.ndarray:
    """Return the row of each entity of the graph, -1 where none has its id."""
    index = graph.indices_of(stored.entity_ids)  # (N,) of the rows
    shared = np.flatnonzero(index >= 0)
    if 2 * len(shared) < len(index):
        trained = stored.config
        raise BadInput(
            f"these vectors were trained on {trained.graph or 'a graph without a name'} (version "
            f"{trained.version}), not on {graph.manifest.name or graph.folder}: only "
            f"{len(shared)} of {len(index)} entities are known",
            remedy=f"train again: kgraft embed train {graph.folder} --out VECTORS",
        )
    row = np.full(len(graph.entities), -1, np.int64)
    row[index[shared]] = shared
    return row


def _relations_by_id(stored: StoredVectors, graph: Graph) -> np.ndarray:
    row = {name: row for row, name in enumerate(stored.relation_ids.to_pylist())}
    return np.array([row.get(name, -1) for name in graph.relations["id"].to_pylist()], np.int64)
