"""DistMult: a relation weighs the coordinates in which head and tail must agree."""

from __future__ import annotations

from torch import Tensor

from kgraft.embed.model import SimilarityModel
from kgraft.embed.models import MODELS


def compose(entity: Tensor, relation: Tensor) -> Tensor:
    """Return h ∘ r."""
    return entity * relation


def invert(relation: Tensor) -> Tensor:
    """Return r: the score is the same both ways."""
    return relation


MODELS.register("distmult")(
    SimilarityModel(
        name="distmult",
        paper="Yang et al. 2015, Embedding entities and relations for learning and inference in "
        "knowledge bases",
        formula="Σ hᵢ rᵢ tᵢ",
        compose=compose,
        invert=invert,
        similarities=("dot",),
    )
)
