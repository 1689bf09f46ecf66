"""Candidates: the entities a span may mean, by its name and by its vector, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.graph.names import Named
from kgraft.vectors.index import EntityIndex

BY_NAME = 8  # candidates that share the name, likeliest first
BY_VECTOR = 8  # candidates nearest in meaning


@dataclass(frozen=True)
class Candidates:
    """The candidates of spans, padded; each entity stands once a span."""

    entity: np.ndarray  # (S, K) int64, -1 where padded
    prior: np.ndarray  # (S, K) float32, 0 where it was not found by name
    features: Tensor  # (S, K, F) float32, see `model.FEATURES`

    def take(self, rows: np.ndarray) -> Candidates:
        """Return the candidates of some spans."""
        which = torch.from_numpy(rows)
        return Candidates(self.entity[rows], self.prior[rows], self.features[which])

    @property
    def padding(self) -> Tensor:
        """Where nothing stands, (S, K)."""
        return torch.from_numpy(self.entity < 0)


def find_candidates(
    named: Named,
    rows: np.ndarray,
    vectors: Tensor,
    searched: np.ndarray,
    index: EntityIndex,
    facts: np.ndarray,
) -> Candidates:
    """Return the candidates of spans: `rows` are those of their names (-1: none), with vectors.

    A search takes time, so that only some spans have candidates by their vectors.
    """
    by_name, prior = names_of(named, rows)
    near = np.full((len(rows), BY_VECTOR), -1, np.int64)
    near[searched] = index.search(vectors[torch.from_numpy(searched)], BY_VECTOR)[0]
    again = (near[:, :, None] == by_name[:, None, :]).any(-1)
    entity = np.hstack([by_name, np.where(again, -1, near)])
    prior = np.hstack([prior, np.zeros(near.shape, np.float32)])
    return Candidates(entity, prior, features_of(entity, prior, facts))


def names_of(named: Named, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the likeliest entities of names and their priors, (S, BY_NAME), padded by -1 and 0."""
    place = np.arange(BY_NAME)
    first, last = named.candidates[rows], named.candidates[rows + 1]
    there = (rows >= 0)[:, None] & (first[:, None] + place < last[:, None])
    source = np.where(there, first[:, None] + place, 0)
    if not len(named.entity):
        return np.full(there.shape, -1), np.zeros(there.shape, np.float32)
    return np.where(there, named.entity[source], -1), named.prior[source] * there


def features_of(entity: np.ndarray, prior: np.ndarray, facts: np.ndarray) -> Tensor:
    """Return what is known of each pair besides its vectors, (S, K, F)."""
    by_name = prior > 0
    log_prior = np.log(prior, out=np.zeros_like(prior), where=by_name)
    known = facts[np.maximum(entity, 0)] if len(facts) else np.zeros((*entity.shape, 3), np.float32)
    return torch.from_numpy(np.dstack([log_prior, by_name.astype(np.float32), known]))
