"""The link head: from the features of candidates to probabilities that sum to 1 with "none".

A small network gives each candidate e of a mention a logit a(e); "none of these" has the logit 0:

    p(e | mention) = exp a(e) / (1 + Σ_e' exp a(e'))
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu


class LinkHead(nn.Module):
    """Features (C, F) to logits (C,)."""

    def __init__(self, features: int, width: int = 64) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, width)
        self.deeper = nn.Linear(width, width)
        self.logit = nn.Linear(width, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits of candidates against "none"."""
        hidden = gelu(self.hidden(features))
        return self.logit(gelu(self.deeper(hidden)))[:, 0]


def log_probabilities(logits: Tensor, owner: Tensor, mentions: int) -> tuple[Tensor, Tensor]:
    """Return log p of each candidate (C,), and of "none" for each mention (M,)."""
    highest = torch.zeros(mentions, dtype=logits.dtype).scatter_reduce(
        0, owner, logits.detach(), "amax"
    )  # the logit 0 of "none" takes part
    total = torch.exp(-highest).index_add(0, owner, torch.exp(logits - highest[owner]))
    log_total = torch.log(total) + highest
    return logits - log_total[owner], -log_total


def link_loss(logits: Tensor, owner: Tensor, gold: Tensor, weight: Tensor) -> Tensor:
    """Return the weighted mean cross-entropy of mentions.

    `gold` (M,) is the row of the right candidate, -1 where none of them is right.
    """
    log_p, log_none = log_probabilities(logits, owner, len(gold))
    right = torch.where(gold >= 0, log_p[gold.clamp_min(0)], log_none)
    return -(weight * right).sum() / weight.sum().clamp_min(1e-6)
