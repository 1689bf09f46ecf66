"""ULTRA (Galkin et al. 2024) with its published weights, run by the networks of kgraft.

It sees the whole graph at every step, and relations that meet without how much of them does.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

from kgraft.measure import QueryBatch
from kgraft.reason.paths.edge_rows import EdgeRows
from kgraft.reason.paths.network import EntityNetwork, RelationNetwork
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.tensors import map_tensors
from kgraft.training import without_prefix

WIDTH, LAYERS = 64, 6
KINDS = 4  # head-head, tail-tail, head-tail, tail-head
AT_ONCE = 4  # queries


class Ultra:
    """Scores the answers of queries over one graph."""

    def __init__(self, weights: Path, graph: PathGraph) -> None:
        stored = map_tensors(weights)
        relations = without_prefix("relation_model.", stored)
        entities = without_prefix("entity_model.", stored)
        self.graph = graph
        self.relations = RelationNetwork(WIDTH, LAYERS, KINDS)
        self.relations.load_state_dict(
            {name.replace("relation.weight", "relation"): t for name, t in relations.items()}
        )
        self.entities = EntityNetwork(WIDTH, LAYERS)
        self.entities.load_state_dict({n: t for n, t in entities.items() if n[:6] == "layers"})
        self.output = nn.Sequential(
            nn.Linear(2 * WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, 1)
        )
        self.output.load_state_dict(without_prefix("mlp.", entities))
        self.meetings = relation_meetings(graph)
        self._vectors = lru_cache(4096)(self._read_relation)

    @torch.no_grad()
    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the scores (B, N) of all entities."""
        scores = [np.zeros((0, self.graph.entities), np.float32)]
        for first in range(0, len(batch), AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            scores.append(self._score(batch.entity[rows], batch.relation[rows]))
        return np.concatenate(scores)

    def _read_relation(self, relation: int) -> Tensor:
        return self.relations(torch.tensor([relation]), self.meetings)[0]  # (2R, D)

    def _score(self, entity: np.ndarray, relation: np.ndarray) -> np.ndarray:
        count, nodes = self.graph.relations, self.graph.entities
        vectors = torch.stack([self._vectors(int(r) % count) for r in relation])
        index = torch.arange(len(entity))
        query = vectors[index, torch.from_numpy(relation).long()]
        start = torch.zeros(len(entity), nodes, WIDTH)
        start[index, torch.from_numpy(entity).long()] = query
        states = self.entities(start, vectors, self.graph.edges, [nodes] * LAYERS)
        joined = torch.cat([states, query[:, None].expand(-1, nodes, -1)], dim=-1)
        scores: np.ndarray = self.output(joined)[..., 0].numpy()
        return scores


def relation_meetings(graph: PathGraph) -> EdgeRows:
    """Return ULTRA's graph of relations: which meet at an entity, and with which ends."""
    node = np.repeat(np.arange(graph.entities), np.diff(graph.edges.bounds))
    size = (2 * graph.relations, graph.entities)
    heads, tails = (
        _marks(graph.edges.relation, ends, size) for ends in (node, graph.edges.neighbour)
    )
    products = [
        (a @ b.T).tocoo().coords
        for a, b in ((heads, heads), (tails, tails), (heads, tails), (tails, heads))
    ]
    kind = np.repeat(np.arange(KINDS), [len(product[0]) for product in products])
    first, second = (np.concatenate([product[end] for product in products]) for end in (0, 1))
    return EdgeRows.of(first, kind, second, 2 * graph.relations)


def _marks(relation: np.ndarray, entity: np.ndarray, size: tuple[int, int]) -> csr_array:
    marks = csr_array((np.ones(len(relation), np.float32), (relation, entity)), shape=size)
    marks.sum_duplicates()
    marks.data[:] = 1
    return marks
