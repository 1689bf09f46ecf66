"""PairRE: a relation scales head and tail, each by a vector of its own."""

# ruff: noqa: ARG002 -- few models need every argument

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from kgraft.embed.model import Model, Parameters
from kgraft.embed.models import MODELS
from kgraft.embed.weighted import weighted_l1, weighted_l2

RIDGE = 0.1  # of a mean weight's square: a coordinate that a relation hardly weighs says little
DISTANCES = {"l1": weighted_l1, "l2": weighted_l2}


def invert(relation: Tensor) -> Tensor:
    """Return (r_T, r_H) of (r_H, r_T): ‖h ∘ r_H − t ∘ r_T‖ = ‖t ∘ r_T − h ∘ r_H‖."""
    of_head, of_tail = relation.chunk(2, dim=-1)
    return torch.cat([of_tail, of_head], dim=-1)


class PairRE(Model):
    """−‖h ∘ r_H − t ∘ r_T‖, h and t of unit length; a query is h ∘ r_H beside r_T.

    The candidates are scaled by the relation, so that no point among them is the query: relations
    of many tails can let r_T vanish where the tails differ.
    """

    def query(self, entities: Tensor, relations: Tensor, parameters: Parameters) -> Tensor:
        """Return (h ∘ r_H, r_T), (…, 2D)."""
        of_head, of_tail = relations.chunk(2, dim=-1)
        return torch.cat([normalize(entities, dim=-1) * of_head, of_tail], dim=-1)

    def score(
        self, queries: Tensor, candidates: Tensor, similarity: str, parameters: Parameters
    ) -> Tensor:
        """Return −‖h ∘ r_H − t ∘ r_T‖."""
        scaled, weights = queries.chunk(2, dim=-1)
        return DISTANCES[similarity](scaled, weights, normalize(candidates, dim=-1))

    def guess(self, entities: Tensor, relations: Tensor, parameters: Parameters) -> Tensor:
        """Return t of unit length along h ∘ r_H ∘ r_T / (r_T² + λ).

        It solves h ∘ r_H = t ∘ r_T in each coordinate, by ridge regression.
        """
        scaled, weights = self.query(entities, relations, parameters).chunk(2, dim=-1)
        squares = weights.square()
        ridge = RIDGE * squares.mean(-1, keepdim=True)
        return normalize(scaled * weights / (squares + ridge).clamp_min(1e-30), dim=-1)


MODELS.register("pairre")(
    PairRE(
        name="pairre",
        paper="Chao et al. 2021, PairRE: knowledge graph embeddings via paired relation vectors",
        formula="−‖h ∘ r_H − t ∘ r_T‖, ‖h‖ = ‖t‖ = 1, by L1 or L2",
        invert=invert,
        similarities=("l1", "l2"),
        relation_width=lambda dimension: 2 * dimension,
    )
)
