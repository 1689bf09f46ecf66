"""Relations that hold between the entities of a text, and their vectors."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgraft.arrays import expand
from kgraft.graph import Graph


class Relations:
    """For pairs of entities, the relations between them; each relation has a vector."""

    def __init__(self, graph: Graph, vectors: Tensor) -> None:
        triples = graph.triples
        pairs = np.concatenate(
            [_pair(triples.head, triples.tail), _pair(triples.tail, triples.head)]
        )
        relation = np.concatenate([triples.relation, triples.relation])
        order = np.argsort(pairs, kind="stable")
        self._pairs, self._relation = pairs[order], relation[order].astype(np.int64)
        self.vectors, self.size = vectors, vectors.shape[1]

    def between(self, entity: Tensor) -> Tensor:
        """Return the summed vectors of the relations of entities (B, M) of texts, (B, M, R).

        That is of all relations that each has with the others of its text, in either direction. An
        entity of -1 has none.
        """
        batch, count = entity.shape
        indices = entity.cpu().numpy()
        one, other = np.broadcast_arrays(indices[:, :, None], indices[:, None, :])  # (B, M, M)
        row = np.flatnonzero((one >= 0) & (other >= 0) & (one != other))
        asked = _pair(one.ravel()[row], other.ravel()[row])
        bounds = (np.searchsorted(self._pairs, asked, side=side) for side in ("left", "right"))
        pair, triple = expand(*bounds)
        owner = torch.from_numpy(row[pair] // count)  # of (B, M)
        vectors = self.vectors[torch.from_numpy(self._relation[triple])]
        summed = torch.zeros(batch * count, self.size).index_add_(0, owner, vectors)
        return summed.view(batch, count, self.size).to(entity.device)


def _pair(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one.astype(np.int64) << 32 | other.astype(np.int64)
