"""Losses of the linker inside a graft, over mentions whose right candidate is known.

    likelihood   -Σ_m log softmax_k(ψ_m)[gold]
    margin       Σ_m max(0, γ - ψ_gold) + Σ_{k ≠ gold} max(0, γ + ψ_mk)

Both are divided by the number of such mentions. Where no candidate is right (NIL), the margin
pushes all of them down, and the likelihood is left out.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from kgraft.text import NIL

MARGIN = 0.2  # γ


def likelihood_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Return the loss of scores ψ (…, K), -inf where padded, with the rank of the gold one (…)."""
    has_gold = gold >= 0
    if not has_gold.any():
        return scores.new_zeros(())
    return cross_entropy(scores[has_gold], gold[has_gold])


def margin_loss(scores: Tensor, gold: Tensor, margin: float = MARGIN) -> Tensor:
    """Return the loss of scores ψ (…, K), -inf where padded, with the rank of the gold one (…)."""
    is_judged = (gold >= 0) | (gold == NIL)
    if not is_judged.any():
        return scores.new_zeros(())
    scores, gold = scores[is_judged], gold[is_judged]
    right = torch.arange(scores.shape[-1], device=scores.device) == gold[:, None]
    wrong = (margin + scores).clamp_min(0).masked_fill(right, 0.0)
    return (wrong + (margin - scores).clamp_min(0).where(right, 0.0)).sum() / len(gold)
