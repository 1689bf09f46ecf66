"""The losses of ELQ: which spans are mentions, and which entity a mention refers to.

    mentions   binary cross-entropy over all spans that begin and end at words
    entities   cross-entropy of the right entity among the candidates of its mention and the right
               entities of the other mentions of the batch

The loss of the link head is in `head`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

SHORT_TEXT = 20  # tokens


def mention_loss(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Return the loss of all spans (B, L, W) per 20 tokens; those of weight 0 do not count."""
    logits = logits.masked_fill(weights == 0, 0.0)
    total = binary_cross_entropy_with_logits(logits, targets, weights, reduction="sum")
    return total * SHORT_TEXT / (logits.shape[0] * logits.shape[1])


def entity_loss(
    dots: Tensor, owner: Tensor, gold: Tensor, mentions: Tensor, entities: Tensor, ids: Tensor
) -> Tensor:
    """Return the mean loss of the mentions whose right candidate is given.

    `dots` (C,) are x_e · y of all candidates, `gold` (G,) the rows of the right ones, `mentions`
    (G, D) the vectors of their mentions, `entities` (G, D) and `ids` (G,) those entities.
    """
    others = (mentions @ entities.T).masked_fill(ids[:, None] == ids, -torch.inf)  # (G, G)
    row = torch.full((int(owner.max()) + 1,), -1)
    row[owner[gold]] = torch.arange(len(gold))
    own = row[owner] >= 0
    dots_own, owner_own = dots[own], row[owner[own]]
    highest = others.amax(1).scatter_reduce(0, owner_own, dots_own, "amax").detach()
    total = torch.exp(others - highest[:, None]).sum(1)
    total = total.index_add(0, owner_own, torch.exp(dots_own - highest[owner_own]))
    return (torch.log(total) + highest - dots[gold]).mean()
