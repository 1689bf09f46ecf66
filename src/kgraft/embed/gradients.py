"""The gradients of a batch of queries: on all entities, or on the rows the batch names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.autograd import backward
from torch.nn.functional import embedding as rows_of

from kgraft.embed.embedding import Embedding
from kgraft.embed.losses import (
    margin_loss,
    sampled_softmax_loss,
    self_adversarial_loss,
    softmax_loss_,
)
from kgraft.embed.regularisers import l2, n3


@dataclass(frozen=True)
class Asked:
    """The queries of a batch; row i of `entity` and `relation` has the answers with `row` i."""

    entity: np.ndarray  # (B,)
    relation: np.ndarray  # (B,) turned
    row: np.ndarray  # (A,)
    answer: np.ndarray  # (A,)
    share: float  # of the whole batch's answers: 1 for one process
    negatives: np.ndarray | None = None  # (chunks, n)


@dataclass(frozen=True)
class Gradients:
    """How a batch would move the vectors, and its losses."""

    rows: Tensor | None  # (U,) the entities that `entities` is about; None: all
    entities: Tensor  # (U, D) or (N, D)
    relations: Tensor  # like the table of relations
    losses: Tensor  # (2,) fit and penalty


def gradients(embedding: Embedding, asked: Asked, noise: torch.Generator) -> Gradients:
    """Return the gradients of a batch's loss, times its share of the whole batch."""
    if not len(asked.answer):
        return _nothing(embedding, asked)
    named, places = _named(asked)
    rows = torch.from_numpy(named)
    vectors = embedding.entities.index_select(0, rows).requires_grad_()  # (U, D)
    local = Embedding(embedding.settings, vectors, embedding.relations.detach().requires_grad_())
    queries = local.queries(places.entity, torch.from_numpy(asked.relation))
    queries = _drop(queries, embedding.settings.dropout, noise)
    penalty = _penalty(local, asked, places) * asked.share
    if asked.negatives is not None:
        fit = _sampled_loss(local, queries, places, len(embedding.entities)) * asked.share
        backward([fit + penalty])
        return Gradients(rows, _of(vectors), _of(local.relations), _losses(fit, penalty))
    everything = embedding.entities.detach().requires_grad_()
    scores = local.similarity(queries, everything)  # (B, N)
    slopes = scores.detach()
    fit = softmax_loss_(slopes, torch.from_numpy(asked.row), torch.from_numpy(asked.answer))
    backward([scores], [slopes.mul_(asked.share)])
    if penalty.requires_grad:
        backward([penalty])
    whole = _of(everything).index_add_(0, rows, _of(vectors))
    return Gradients(None, whole, _of(local.relations), _losses(fit * asked.share, penalty))


def _nothing(embedding: Embedding, asked: Asked) -> Gradients:
    """Return what a process adds that has no share of a small batch."""
    rows = None if asked.negatives is None else torch.zeros(0, dtype=torch.int64)
    entities = embedding.entities if rows is None else embedding.entities[:0]
    relations = torch.zeros_like(embedding.relations)
    return Gradients(rows, torch.zeros_like(entities), relations, torch.zeros(2))


@dataclass(frozen=True)
class _Places:
    """The entities of a batch by their place among the rows it names."""

    entity: Tensor  # (B,)
    answer: Tensor  # (A,)
    negatives: Tensor  # (chunks, n)


def _named(asked: Asked) -> tuple[np.ndarray, _Places]:
    """Return the entities that a batch names, each once, and where each use of one finds it."""
    negatives = np.zeros((0, 0), np.int64) if asked.negatives is None else asked.negatives
    used = np.concatenate([asked.entity, asked.answer, negatives.reshape(-1)])
    named, place = np.unique(used, return_inverse=True)
    first, second = len(asked.entity), len(asked.entity) + len(asked.answer)
    places = (torch.from_numpy(part) for part in np.split(place, [first, second]))
    entity, answer, wrong = places
    return named, _Places(entity, answer, wrong.view(negatives.shape))


def _drop(queries: Tensor, share: float, noise: torch.Generator) -> Tensor:
    if not share:
        return queries
    kept = torch.rand(queries.shape, generator=noise) >= share
    return queries * kept / (1 - share)


def _sampled_loss(local: Embedding, queries: Tensor, places: _Places, entities: int) -> Tensor:
    """Return the loss of queries against their answers and the negatives of their chunk."""
    settings = local.settings
    chunks, negatives = places.negatives.shape
    answers = rows_of(places.answer, local.entities)  # (B, D)
    positive = local.similarity(queries[:, None], answers[:, None])[:, 0, 0]  # (B,)
    wrong = rows_of(places.negatives, local.entities)  # (chunks, n, D)
    grouped = queries.view(chunks, -1, queries.shape[-1])  # (chunks, B / chunks, D)
    negative = local.similarity(grouped, wrong).view(-1, negatives)  # (B, n)
    if settings.loss == "margin":
        return margin_loss(positive, negative, margin=settings.margin)
    if settings.loss == "self-adversarial":
        return self_adversarial_loss(
            positive, negative, margin=settings.margin, temperature=settings.temperature
        )
    return sampled_softmax_loss(positive, negative, entities=entities)


def _penalty(local: Embedding, asked: Asked, places: _Places) -> Tensor:
    """Return the regulariser, averaged over the answers: entity and answer, and the relation.

    n3 and l2 keep the relation small by itself, dura by the queries it makes.
    """
    settings = local.settings
    penalty = torch.zeros(())
    if settings.entity_weight:
        uses = torch.bincount(places.answer, minlength=len(local.entities))
        asking = places.entity[torch.from_numpy(asked.row)]
        uses = uses + torch.bincount(asking, minlength=len(local.entities))
        penalty = penalty + settings.entity_weight * (uses * _size(local, local.entities)).sum()
    if settings.relation_weight and settings.regulariser == "dura":
        penalty = penalty + settings.relation_weight * _query_sizes(local, asked, places)
    elif settings.relation_weight:
        used = torch.from_numpy(np.bincount(asked.relation[asked.row]))
        vectors = local.turned(torch.arange(len(used)))
        penalty = penalty + settings.relation_weight * (used * _size(local, vectors)).sum()
    return penalty / len(asked.answer)


def _query_sizes(local: Embedding, asked: Asked, places: _Places) -> Tensor:
    """Return the squared sizes of the queries for each answer and back from it, summed.

    Zhang et al. 2020, Duality-induced regularizer for tensor factorization based knowledge graph
    completion: with it, a large dot of query and answer means that they are near each other.
    """
    asking = places.entity[torch.from_numpy(asked.row)]
    relation = local.turned(torch.from_numpy(asked.relation[asked.row]))  # (A, W)
    there = local.model.compose(rows_of(asking, local.entities), relation)
    back = local.model.compose(rows_of(places.answer, local.entities), local.model.invert(relation))
    return l2(there).sum() + l2(back).sum()


def _size(local: Embedding, vectors: Tensor) -> Tensor:
    if local.settings.regulariser == "n3":
        return n3(vectors, complex_pairs=local.model.complex_pairs)
    return l2(vectors)


def _of(leaf: Tensor) -> Tensor:
    """Return the gradient of a leaf, zeros where nothing used it."""
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def _losses(fit: Tensor, penalty: Tensor) -> Tensor:
    return torch.stack([fit.detach(), penalty.detach()])
