"""The heads of joint pre-training: what each of the four tasks asks of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from kgraft.text import MaskedHead
from kgraft.training import seeded

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.joint.model import JointModel


class MentionHead(nn.Module):
    """Says which entity a mention means: q = g(x), g(x) = GELU(x W1) W2, by inner product."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, mentions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores (n, C) of candidates (n, C, F) for mentions (n, F)."""
        asked = self.second(gelu(self.first(mentions)))
        scores = torch.einsum("nf,ncf->nc", asked, candidates)
        return scores * asked.shape[-1] ** -0.5


class RelationHead(nn.Module):
    """Says which relation holds between two entities, by their vectors."""

    def __init__(self, size: int, relations: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(2 * size, size), nn.Linear(size, relations)

    def forward(self, head: Tensor, tail: Tensor) -> Tensor:
        """Return the scores of all relations, (n, F) twice to (n, R)."""
        scores: Tensor = self.outer(gelu(self.inner(torch.cat([head, tail], -1))))
        return scores


class Heads(nn.Module):
    """The heads of all four tasks."""

    def __init__(self, size: int, words: int, categories: int, relations: int) -> None:
        super().__init__()
        self.words = MaskedHead(size, words)
        self.mentions = MentionHead(size)
        self.categories = nn.Linear(size, categories)
        self.relations = RelationHead(size, relations)


def mean_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Return the mean cross-entropy of scores (n, C); 0 of nothing."""
    if not len(gold):
        return (scores * 0.0).sum()
    return cross_entropy(scores, gold)


def new_heads(model: JointModel, graph: Graph, seed: int) -> Heads:
    """Return untrained heads for a model and a graph."""
    words = model.encoder.model.get_input_embeddings().num_embeddings
    relations = max(len(graph.relations), 1)
    with seeded(seed):
        heads = Heads(model.encoder.dimension, words, model.config.categories, relations)
    return heads.to(model.encoder.device)
