"""The contrastive loss of SimKGC: the answer against the other entities of some batches.

Wang et al. 2022, "SimKGC: Simple Contrastive Knowledge Graph Completion with Pre-trained Language
Models". For a query with vector q, its answer e and negatives e', all of unit length,

    L = −log exp((q · e − γ) / τ) / (exp((q · e − γ) / τ) + Σ_e' exp(q · e' / τ))

The negatives are the entities of the batch, among them the query's own (self-negatives), and those
of earlier batches, whose scores are weighed down. Known answers are no negatives.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgraft.measure import Queries, QueryBatch


def contrastive_loss(
    queries: Tensor,
    entities: Tensor,
    answer: Tensor,
    masked: Tensor,
    *,
    scale: Tensor,
    margin: float,
    earlier_weight: float = 1.0,
    earlier: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Return the mean of L over queries (Q, D) whose answers are rows (Q,) of entities (C, D).

    `masked` (Q, C) says which entities are no negatives of which query; `scale` is 1 / τ. `earlier`
    are vectors (P, D) of earlier batches and their mask (Q, P).
    """
    own = torch.nn.functional.one_hot(answer, len(entities)).bool()
    logits = (queries @ entities.T - margin * own) * scale  # (Q, C)
    logits = logits.masked_fill(masked & ~own, -torch.inf)
    gold = logits.gather(1, answer[:, None])[:, 0]
    if earlier is not None:
        vectors, masked_earlier = earlier
        further = queries @ vectors.T * scale * earlier_weight  # (Q, P)
        logits = torch.cat([logits, further.masked_fill(masked_earlier, -torch.inf)], dim=1)
    return (logits.logsumexp(1) - gold).mean()


def known_answers(facts: Queries, batch: QueryBatch, entities: np.ndarray) -> Tensor:
    """Return which entities (C,) are known answers of which query, (B, C)."""
    row, answer = facts.known(batch)
    size = int(max(answer.max(initial=0), entities.max(initial=0))) + 1
    cells = np.arange(len(batch))[:, None] * size + entities  # (B, C)
    return torch.from_numpy(np.isin(cells, row * size + answer))
