"""What training makes small: scores of true answers against scores of wrong ones.

| loss | when |
| --- | --- |
| softmax over all entities | graphs up to some 100,000 entities: the best quality |
| sampled softmax | large graphs; the same aim from some negatives |
| self-adversarial | the setting of the RotatE paper; weighs the negatives the model believes in |
| margin | the setting of the TransE paper |

Each takes scores, larger for better, and gives one number: the mean over the batch's answers.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softmax


def margin_loss(positive: Tensor, negative: Tensor, *, margin: float) -> Tensor:
    """Return the mean over answers and negatives of [γ + d(h+r, t) − d(h'+r, t')]₊, d = −score."""
    return (margin - positive[:, None] + negative).relu().mean()  # (B,), (B, n)


def self_adversarial_loss(
    positive: Tensor, negative: Tensor, *, margin: float, temperature: float
) -> Tensor:
    """Return −log σ(γ − d(h, t)) − Σ pᵢ log σ(dᵢ − γ), pᵢ ∝ exp(α score of negative i).

    The weights p are taken as given: no gradient flows through them. Half of the sum, as in the
    authors' code, so that answers and negatives weigh the same.
    """
    weights = softmax(temperature * negative.detach(), dim=-1)  # (B, n)
    wrong = (weights * logsigmoid(-negative - margin)).sum(-1)  # (B,)
    return -(logsigmoid(positive + margin) + wrong).mean() / 2


def sampled_softmax_loss(positive: Tensor, negative: Tensor, *, entities: int) -> Tensor:
    """Return −log of the answer's share among itself and negatives that stand for all entities.

    Each of n negatives, drawn evenly, counts for (N − 1)/n wrong entities.
    """
    weight = torch.tensor((entities - 1) / negative.shape[-1]).log()
    everything = torch.cat([positive[:, None], negative + weight], dim=-1)  # (B, 1 + n)
    return (everything.logsumexp(-1) - positive).mean()


@torch.no_grad()
def softmax_loss_(scores: Tensor, rows: Tensor, answers: Tensor) -> Tensor:
    """Return the mean over answers of −log softmax(scores[row])[answer], over all entities.

    A row is a query and may have several answers, each a prediction of its own; together they need
    one row of scores. No answer stands twice in a row. The scores (B, N) are replaced by the
    gradient of the loss, so that no second matrix of their size is made.
    """
    share = 1.0 / len(answers)
    counts = torch.bincount(rows, minlength=len(scores)).to(scores.dtype)[:, None]  # (B, 1)
    right = scores[rows, answers]
    top = scores.amax(1, keepdim=True)
    torch.exp(scores.sub_(top), out=scores)
    total = scores.sum(1, keepdim=True)
    loss = ((counts * (top + total.log())).sum() - right.sum()) * share
    scores.mul_(counts * share / total)
    scores[rows, answers] -= share
    return loss
