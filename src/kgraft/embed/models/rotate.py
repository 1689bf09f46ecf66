"""RotatE: a relation turns each coordinate of the head by an angle of its own."""

from __future__ import annotations

from math import pi

import torch
from torch import Tensor

from kgraft.embed.model import SimilarityModel
from kgraft.embed.models import MODELS
from kgraft.embed.similarity import multiply


def compose(entity: Tensor, relation: Tensor) -> Tensor:
    """Return h ∘ r with rᵢ = exp(i θᵢ), |rᵢ| = 1; `relation` holds the angles θ."""
    return multiply(entity, torch.cat([relation.cos(), relation.sin()], dim=-1))


def invert(relation: Tensor) -> Tensor:
    """Return −θ: turning back keeps all distances."""
    return -relation


def draw_angles(rows: int, width: int, _scale: float, generator: torch.Generator) -> Tensor:
    """Draw angles from the whole circle, whatever the scale of the entities."""
    return (torch.rand(rows, width, generator=generator) * 2 - 1) * pi


MODELS.register("rotate")(
    SimilarityModel(
        name="rotate",
        paper="Sun et al. 2019, RotatE: knowledge graph embedding by relational rotation",
        formula="−d(h ∘ r, t), |rᵢ| = 1, d = Σ |complex coordinate|, L2 or L2 squared",
        compose=compose,
        invert=invert,
        similarities=("modulus", "l2", "squared"),
        complex_pairs=True,
        relation_width=lambda dimension: dimension // 2,
        draw_relations=draw_angles,
        free_relations=False,
    )
)
