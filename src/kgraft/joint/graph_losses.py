"""What is asked of entities on walks over the graph: their category, and what relates two of them.

What is asked for is hidden from the neighbourhoods that the entities are told from.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Graph
from kgraft.joint.heads import Heads, mean_loss
from kgraft.joint.model import JointModel
from kgraft.joint.samplers import Categories, sample_walks
from kgraft.vectors import Memory


class GraphLosses:
    """The two losses of the graph's side, for walks from entities drawn at random."""

    def __init__(
        self,
        model: JointModel,
        heads: Heads,
        graph: Graph,
        memory: Memory,
        *,
        roots: int = 64,
        length: int = 1,
    ) -> None:
        self.model, self.heads, self.graph, self.memory = model, heads, graph, memory
        self.roots, self.length = roots, length
        self.categories = Categories.of_graph(graph, heads.categories.out_features)

    def __call__(self, random: np.random.Generator) -> dict[str, Tensor]:
        """Return both losses by name."""
        batch = sample_walks(self.graph, self.roots, self.length, random)
        vectors = self.model.entity_vectors(
            self.graph,
            self.memory,
            batch.entity,
            seed=int(random.integers(1 << 31)),
            hidden=batch.hidden,
        )
        gold = torch.from_numpy(self.categories.of[batch.entity])
        has_type = gold >= 0
        categories = mean_loss(
            self.heads.categories(vectors[has_type]), gold[has_type].to(vectors.device)
        )
        scores = self.heads.relations(vectors[batch.head], vectors[batch.tail])
        relations = mean_loss(scores, torch.from_numpy(batch.relation).to(vectors.device))
        return {"categories": categories, "relations": relations}
