"""ComplEx: DistMult in complex numbers, where a relation can differ from its inverse."""

from __future__ import annotations

from kgraft.embed.model import SimilarityModel
from kgraft.embed.models import MODELS
from kgraft.embed.similarity import conjugate, multiply

MODELS.register("complex")(
    SimilarityModel(
        name="complex",
        paper="Trouillon et al. 2016, Complex embeddings for simple link prediction",
        formula="Re Σ hᵢ rᵢ conj(tᵢ)",
        compose=multiply,  # h ∘ r; the dot of real halves with t is Re Σ (h ∘ r)ᵢ conj(tᵢ)
        invert=conjugate,
        similarities=("dot",),
        complex_pairs=True,
    )
)
