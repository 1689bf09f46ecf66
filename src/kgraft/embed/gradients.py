"""The gradients of a batch of queries: on all entities, or on the rows the batch names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.autograd import backward
from torch.nn.functional import embedding as rows_of

from kgraft.embed.losses import (
    margin_loss,
    sampled_softmax_loss,
    self_adversarial_loss,
    softmax_loss_,
)
from kgraft.embed.regularisers import l2, n3
from kgraft.embed.tables import EmbeddingTables


@dataclass(frozen=True)
class TrainingBatch:
    """The queries of a batch; row i of `entity` and `relation` has the answers with `row` i."""

    entity: np.ndarray  # (B,)
    relation: np.ndarray  # (B,) or its inverse, R + r
    row: np.ndarray  # (A,)
    answer: np.ndarray  # (A,)
    fraction: float  # of the whole batch's answers: 1 for one process
    negatives: np.ndarray | None = None  # (chunks, n)


@dataclass(frozen=True)
class Gradients:
    """How a batch would change the tables and the further parameters, and its losses."""

    rows: Tensor | None  # (U,) the entities that `entities` is about; None: all
    entities: Tensor  # (U, D) or (N, D)
    relations: Tensor  # like the table of relations
    parameters: dict[str, Tensor]  # like the further parameters
    losses: Tensor  # (2,) fit and penalty


def gradients(tables: EmbeddingTables, batch: TrainingBatch, noise: torch.Generator) -> Gradients:
    """Return the gradients of a batch's loss, times its fraction of the whole batch."""
    if not len(batch.answer):
        return _nothing(tables, batch)
    named, local_rows = _named(batch)
    rows = torch.from_numpy(named)
    local = _leaves(tables, rows)
    queries = local.queries(local_rows.entity, torch.from_numpy(batch.relation))
    queries = _drop(queries, tables.settings.dropout, noise)
    penalty = _penalty(local, batch, local_rows) * batch.fraction
    if batch.negatives is None:
        return _full_gradients(tables, batch, local, rows, queries, penalty)
    fit = _sampled_loss(local, queries, local_rows, len(tables.entities)) * batch.fraction
    backward([fit + penalty])
    return _collect(local, rows, _of(local.entities), _losses(fit, penalty))


def _full_gradients(
    tables: EmbeddingTables,
    batch: TrainingBatch,
    local: EmbeddingTables,
    rows: Tensor,
    queries: Tensor,
    penalty: Tensor,
) -> Gradients:
    """Return the gradients where each query is scored against all entities."""
    entities = tables.entities.detach().requires_grad_()
    scores = local.compare(queries, entities)  # (B, N)
    slopes = scores.detach()
    fit = softmax_loss_(slopes, torch.from_numpy(batch.row), torch.from_numpy(batch.answer))
    backward([scores], [slopes.mul_(batch.fraction)])
    if penalty.requires_grad:
        backward([penalty])
    gradient = _of(entities).index_add_(0, rows, _of(local.entities))
    return _collect(local, None, gradient, _losses(fit * batch.fraction, penalty))


def _leaves(tables: EmbeddingTables, rows: Tensor) -> EmbeddingTables:
    """Return the tables with some rows of entities only, as leaves that gradients gather in."""
    return EmbeddingTables(
        tables.settings,
        tables.entities.index_select(0, rows).requires_grad_(),  # (U, D)
        tables.relations.detach().requires_grad_(),
        {name: tensor.detach().requires_grad_() for name, tensor in tables.parameters.items()},
    )


def _collect(
    local: EmbeddingTables, rows: Tensor | None, entities: Tensor, losses: Tensor
) -> Gradients:
    parameters = {name: _of(tensor) for name, tensor in local.parameters.items()}
    return Gradients(rows, entities, _of(local.relations), parameters, losses)


def _nothing(tables: EmbeddingTables, batch: TrainingBatch) -> Gradients:
    """Return the gradients of a process that has no part of a small batch: zeros."""
    rows = None if batch.negatives is None else torch.zeros(0, dtype=torch.int64)
    entities = tables.entities if rows is None else tables.entities[:0]
    parameters = {name: torch.zeros_like(tensor) for name, tensor in tables.parameters.items()}
    return Gradients(
        rows,
        torch.zeros_like(entities),
        torch.zeros_like(tables.relations),
        parameters,
        torch.zeros(2),
    )


@dataclass(frozen=True)
class _LocalRows:
    """The entities of a batch by their rows among those that it names."""

    entity: Tensor  # (B,)
    answer: Tensor  # (A,)
    negatives: Tensor  # (chunks, n)


def _named(batch: TrainingBatch) -> tuple[np.ndarray, _LocalRows]:
    """Return the entities that a batch names, each once, and the row of each use."""
    negatives = np.zeros((0, 0), np.int64) if batch.negatives is None else batch.negatives
    used = np.concatenate([batch.entity, batch.answer, negatives.reshape(-1)])
    named, row = np.unique(used, return_inverse=True)
    first, second = len(batch.entity), len(batch.entity) + len(batch.answer)
    parts = (torch.from_numpy(part) for part in np.split(row, [first, second]))
    entity, answer, wrong = parts
    return named, _LocalRows(entity, answer, wrong.view(negatives.shape))


def _drop(queries: Tensor, fraction: float, noise: torch.Generator) -> Tensor:
    if not fraction:
        return queries
    kept = torch.rand(queries.shape, generator=noise) >= fraction
    return queries * kept / (1 - fraction)


def _sampled_loss(
    local: EmbeddingTables, queries: Tensor, rows: _LocalRows, entities: int
) -> Tensor:
    """Return the loss of queries against their answers and the negatives of their chunk."""
    settings = local.settings
    chunks, negatives = rows.negatives.shape
    answers = rows_of(rows.answer, local.entities)  # (B, D)
    positive = local.compare(queries[:, None], answers[:, None])[:, 0, 0]  # (B,)
    wrong = rows_of(rows.negatives, local.entities)  # (chunks, n, D)
    grouped = queries.reshape(chunks, -1, queries.shape[-1])  # (chunks, B / chunks, D)
    negative = local.compare(grouped, wrong).view(-1, negatives)  # (B, n)
    if settings.loss == "margin":
        return margin_loss(positive, negative, margin=settings.margin)
    if settings.loss == "self-adversarial":
        return self_adversarial_loss(
            positive, negative, margin=settings.margin, temperature=settings.temperature
        )
    return sampled_softmax_loss(positive, negative, entities=entities)


def _penalty(local: EmbeddingTables, batch: TrainingBatch, rows: _LocalRows) -> Tensor:
    """Return the regulariser, averaged over the answers: entity and answer, and the relation.

    n3 and l2 keep the relation small by itself, dura by the queries it makes.
    """
    settings = local.settings
    penalty = torch.zeros(())
    if settings.entity_weight:
        uses = torch.bincount(rows.answer, minlength=len(local.entities))
        asking = rows.entity[torch.from_numpy(batch.row)]
        uses = uses + torch.bincount(asking, minlength=len(local.entities))
        penalty = penalty + settings.entity_weight * (uses * _size(local, local.entities)).sum()
    if settings.relation_weight and settings.regulariser == "dura":
        penalty = penalty + settings.relation_weight * _query_sizes(local, batch, rows)
    elif settings.relation_weight:
        used = torch.from_numpy(np.bincount(batch.relation[batch.row]))
        vectors = local.relation_vectors(torch.arange(len(used)))
        penalty = penalty + settings.relation_weight * (used * _size(local, vectors)).sum()
    return penalty / len(batch.answer)


def _query_sizes(local: EmbeddingTables, batch: TrainingBatch, rows: _LocalRows) -> Tensor:
    """Return the squared sizes of the queries for each answer and back from it, summed.

    Zhang et al. 2020, Duality-induced regularizer for tensor factorization based knowledge graph
    completion: with it, a large dot of query and answer means that they are near each other.
    """
    asking = rows.entity[torch.from_numpy(batch.row)]
    relation = local.relation_vectors(torch.from_numpy(batch.relation[batch.row]))  # (A, W)
    model, parameters = local.model, local.parameters
    there = model.query(rows_of(asking, local.entities), relation, parameters)
    answers = rows_of(rows.answer, local.entities)
    back = model.query(answers, model.invert(relation), parameters)
    return l2(there).sum() + l2(back).sum()


def _size(local: EmbeddingTables, vectors: Tensor) -> Tensor:
    if local.settings.regulariser == "n3":
        return n3(vectors, complex_pairs=local.model.complex_pairs)
    return l2(vectors)


def _of(leaf: Tensor) -> Tensor:
    """Return the gradient of a leaf, zeros where nothing used it."""
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def _losses(fit: Tensor, penalty: Tensor) -> Tensor:
    return torch.stack([fit.detach(), penalty.detach()])
