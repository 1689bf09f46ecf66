"""Distances to candidates whose coordinates each query weighs by itself: ‖q − w ∘ c‖."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from kgraft.embed.similarity import SMALLEST, blocks, grouped


def weighted_l2(queries: Tensor, weights: Tensor, candidates: Tensor) -> Tensor:
    """Return −‖q − w ∘ c‖₂ of queries (…, B, D) with their weights and candidates (…, N, D).

    ‖q − w ∘ c‖² = ‖q‖² − 2 (q ∘ w)·c + (w ∘ w)·(c ∘ c) is one matrix product.
    """
    length, one = queries.square().sum(-1, keepdim=True), torch.ones_like(candidates[..., :1])
    left_side = torch.cat([-2 * queries * weights, weights.square(), length], dim=-1)
    right_side = torch.cat([candidates, candidates.square(), one], dim=-1)
    return -(left_side @ right_side.mT).clamp_min(SMALLEST).sqrt()


def weighted_l1(queries: Tensor, weights: Tensor, candidates: Tensor) -> Tensor:
    """Return −Σ |qᵢ − wᵢ cᵢ| of queries (…, B, D) with their weights and candidates (…, N, D)."""
    distances: Tensor = _WeightedManhattan.apply(  # type: ignore[no-untyped-call]
        queries, weights, candidates
    )
    return -distances


class _WeightedManhattan(torch.autograd.Function):
    """Distances Σ |qᵢ − wᵢ cᵢ|, a block at a time that the cache holds."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        queries: Tensor,
        weights: Tensor,
        candidates: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(queries, weights, candidates)
        batch, factors, answers = map(grouped, (queries, weights, candidates))
        distances = batch.new_empty(*batch.shape[:2], answers.shape[1])
        for group, row, column in blocks(batch, answers):
            parts = batch[group, row], factors[group, row], answers[group, column]
            distances[group, row, column] = _differences(*parts).abs_().sum(-1)
        return distances.view(*queries.shape[:-1], candidates.shape[-2])

    @staticmethod
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ANN401
        batch, factors, answers = map(grouped, ctx.saved_tensors)
        slopes = grouped(slopes)
        of_queries, of_weights, of_answers = map(torch.zeros_like, (batch, factors, answers))
        for group, row, column in blocks(batch, answers):
            factor, answer = factors[group, row], answers[group, column]
            pull = _differences(batch[group, row], factor, answer).sign_()
            pull.mul_(slopes[group, row, column, None])  # (groups, B, N, D)
            of_queries[group, row] += pull.sum(2)
            scaled = pull * answer[:, None]
            of_weights[group, row] -= scaled.sum(2)
            of_answers[group, column] -= torch.mul(pull, factor[:, :, None], out=scaled).sum(1)
        shapes = (vectors.shape for vectors in ctx.saved_tensors)
        return tuple(map(torch.Tensor.view, (of_queries, of_weights, of_answers), shapes))  # type: ignore[return-value]


def _differences(queries: Tensor, weights: Tensor, candidates: Tensor) -> Tensor:
    """Return q − w ∘ c, (groups, B, N, D)."""
    return torch.addcmul(queries[:, :, None], weights[:, :, None], candidates[:, None], value=-1)
