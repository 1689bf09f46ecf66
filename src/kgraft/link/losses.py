"""What training makes small: wrong spans, wrong candidates, wrong verdicts.

    mentions   binary cross-entropy over all spans that begin and end at words
    entities   cross-entropy of the marked entity among its span's candidates and the other
               entities of the batch
    verdicts   binary cross-entropy of the link's probability, for the best candidate of every
               span that was looked at, and for the marked entity

Each is a mean: over texts, marked spans, and texts.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy


def mention_loss(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Return the loss of all spans (B, L, W); those of weight 0 do not count."""
    logits = logits.masked_fill(weights == 0, 0.0)
    each = binary_cross_entropy_with_logits(logits, targets, weights, reduction="sum")
    return each / len(logits)


def entity_loss(
    logits: Tensor, gold: Tensor, mentions: Tensor, vectors: Tensor, entity: Tensor
) -> Tensor:
    """Return the loss of marked spans: (S, K) logits of candidates, of which `gold` is marked.

    The other spans' marked entities, with vectors (S, D) and numbers (S,), are negatives too.
    """
    others = mentions @ vectors.T  # (S, S)
    others = others.masked_fill(entity[:, None] == entity, -torch.inf)
    return cross_entropy(torch.cat([logits, others], dim=1), gold)


def verdict_loss(logits: Tensor, right: Tensor, weights: Tensor, texts: int) -> Tensor:
    """Return the loss of links (P,), each right or wrong, with weights."""
    return binary_cross_entropy_with_logits(logits, right, weights, reduction="sum") / texts
