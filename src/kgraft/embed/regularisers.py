"""What keeps vectors small: sums over coordinates, by vector."""

from __future__ import annotations

from torch import Tensor

from kgraft.embed.similarity import SMALLEST, halves


def n3(vectors: Tensor, *, complex_pairs: bool) -> Tensor:
    """Return Σ |xᵢ|³ of each vector (Lacroix et al. 2018), |xᵢ| the modulus where complex."""
    if not complex_pairs:
        return vectors.abs().pow(3).sum(-1)
    real, imaginary = halves(vectors)
    return (real.square() + imaginary.square() + SMALLEST).pow(1.5).sum(-1)


def l2(vectors: Tensor) -> Tensor:
    """Return Σ xᵢ² of each vector."""
    return vectors.square().sum(-1)
