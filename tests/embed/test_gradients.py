"""Gradients of a batch against autograd over the whole loss, one answer at a time."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.embed.tiny import few
from torch.nn.functional import cross_entropy

from kgraft.embed.gradients import TrainingBatch, gradients
from kgraft.embed.losses import margin_loss, sampled_softmax_loss, self_adversarial_loss
from kgraft.embed.models import MODELS
from kgraft.embed.settings import LOSSES, REGULARISERS, EmbedSettings
from kgraft.embed.tables import EmbeddingTables

ENTITIES, RELATIONS, DIMENSION = 9, 2, 4
USUAL = {
    "complex": {"similarity": "dot", "relation_weight": 0.2},
    "distmult": {"similarity": "dot", "relation_weight": 0.2},
    "pairre": {"similarity": "l2", "relation_weight": 0.2},
    "rotate": {"similarity": "squared"},
    "transe": {"similarity": "l2", "relation_weight": 0.2},
}


def make(model, *, seed=0, **changes):
    """Draw an embedding in double precision."""
    settings = EmbedSettings(model=model, dimension=DIMENSION, **(USUAL[model] | changes))
    drawn = EmbeddingTables.draw(settings.replace(scale=1.0, seed=seed), ENTITIES, RELATIONS)
    return EmbeddingTables(settings, drawn.entities.double(), drawn.relations.double())


def ask(random, *, sampled, queries=4, fraction=1.0):
    """Draw queries: several answers each, or one answer and the negatives of two chunks."""
    entity = random.integers(ENTITIES, size=queries)
    relation = random.integers(2 * RELATIONS, size=queries)
    if sampled:
        row, answer = np.arange(queries), random.integers(ENTITIES, size=queries)
        negatives = random.integers(ENTITIES, size=(2, 3))
        return TrainingBatch(entity, relation, row, answer, fraction, negatives)
    right = random.random((queries, ENTITIES)) < 0.3
    right[0, 0] = True
    return TrainingBatch(entity, relation, *np.nonzero(right), fraction)


def size(embedding, vectors):
    """Return the regulariser of each vector, by its formula."""
    if embedding.settings.regulariser != "n3":
        return vectors.square().sum(-1)
    if not MODELS[embedding.settings.model].complex_pairs:
        return vectors.abs().pow(3).sum(-1)
    return torch.complex(*vectors.chunk(2, -1)).abs().pow(3).sum(-1)


def naive_penalty(embedding, batch):
    settings, total = embedding.settings, 0.0
    for row, answer in zip(batch.row, batch.answer, strict=True):
        ends = size(embedding, embedding.entities[[batch.entity[row], answer]]).sum()
        inverse = embedding.relation_vectors(torch.tensor([batch.relation[row]]))
        relation = size(embedding, inverse).sum() if settings.relation_weight else 0.0
        if settings.regulariser == "dura" and settings.relation_weight:
            model, parameters = embedding.model, embedding.parameters
            there = model.query(embedding.entities[batch.entity[row]], inverse, parameters)
            back = model.query(embedding.entities[answer], model.invert(inverse), parameters)
            relation = there.square().sum() + back.square().sum()
        total = total + settings.entity_weight * ends + settings.relation_weight * relation
    return total / len(batch.answer)


def naive_fit(embedding, batch, mask):
    settings = embedding.settings
    numbers = torch.from_numpy(batch.entity), torch.from_numpy(batch.relation)
    queries = embedding.queries(*numbers) * mask
    scores = embedding.compare(queries, embedding.entities)  # (B, N)
    row, answer = map(torch.from_numpy, (batch.row, batch.answer))
    if batch.negatives is None:
        return cross_entropy(scores[row], answer)
    own = np.repeat(batch.negatives, len(scores) // len(batch.negatives), axis=0)  # (B, n)
    positive, negative = scores[row, answer], scores.gather(1, torch.from_numpy(own))
    if settings.loss == "margin":
        return margin_loss(positive, negative, margin=settings.margin)
    if settings.loss == "sampled-softmax":
        return sampled_softmax_loss(positive, negative, entities=ENTITIES)
    return self_adversarial_loss(
        positive, negative, margin=settings.margin, temperature=settings.temperature
    )


def naive(embedding, batch, mask=1.0):
    """Return gradients of entities and relations, and fit and penalty."""
    leaves = [t.clone().requires_grad_() for t in (embedding.entities, embedding.relations)]
    whole = EmbeddingTables(embedding.settings, *leaves)
    fit = naive_fit(whole, batch, mask) * batch.fraction
    penalty = naive_penalty(whole, batch) * batch.fraction
    (fit + penalty).backward()
    return *(leaf.grad for leaf in leaves), torch.stack([fit, torch.as_tensor(penalty)]).detach()


def agree(embedding, batch, mask=1.0):
    found = gradients(embedding, batch, torch.Generator().manual_seed(5))
    entities, relations, losses = naive(embedding, batch, mask)
    moved = found.entities
    if found.rows is not None:
        assert len(found.rows.unique()) == len(found.rows)
        moved = torch.zeros_like(embedding.entities).index_add_(0, found.rows, found.entities)
    torch.testing.assert_close(moved, entities, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(found.relations, relations, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(found.losses.double(), losses.double(), rtol=1e-6, atol=1e-8)
    assert not found.losses.requires_grad


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", MODELS.names())
@few
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(REGULARISERS), st.booleans())
def test_gradients_are_those_of_the_whole_loss(model, loss, seed, reciprocal, kind, weighed):
    changes = {"reciprocal": reciprocal, "regulariser": kind, "loss": loss, "margin": 1.0}
    changes |= {"entity_weight": 0.3} if weighed else {"relation_weight": 0.0}
    random = np.random.default_rng(seed)
    batch = ask(random, sampled=loss != "softmax", fraction=random.random())
    agree(make(model, seed=seed, **changes), batch)


@pytest.mark.parametrize(
    ("model", "similarity"), [("transe", "l1"), ("rotate", "modulus"), ("pairre", "l1")]
)
def test_gradients_of_what_is_no_product(model, similarity):
    batch = ask(np.random.default_rng(3), sampled=True)
    agree(make(model, similarity=similarity, loss="margin", margin=5.0), batch)


@pytest.mark.parametrize("loss", ["softmax", "margin"])
def test_dropout_leaves_out_a_share_of_the_query(loss):
    embedding = make("distmult", loss=loss, dropout=0.4)
    batch = ask(np.random.default_rng(1), sampled=loss != "softmax", queries=6)
    kept = torch.rand(6, DIMENSION, generator=torch.Generator().manual_seed(5)) >= 0.4
    assert 0 < kept.sum() < kept.numel()
    agree(embedding, batch, kept / 0.6)


@pytest.mark.parametrize("loss", ["softmax", "margin"])
def test_the_vectors_stay_as_they_are(loss):
    embedding = make("complex", loss=loss, entity_weight=0.1)
    before = embedding.entities.clone(), embedding.relations.clone()
    gradients(embedding, ask(np.random.default_rng(0), sampled=loss != "softmax"), None)
    assert torch.equal(embedding.entities, before[0])
    assert torch.equal(embedding.relations, before[1])
    assert not embedding.entities.requires_grad
    assert not embedding.relations.requires_grad


@pytest.mark.parametrize("loss", ["softmax", "margin"])
def test_no_queries_move_nothing(loss):
    embedding, none = make("complex", loss=loss, entity_weight=0.1), np.zeros(0, np.int64)
    negatives = None if loss == "softmax" else np.zeros((0, 3), np.int64)
    found = gradients(embedding, TrainingBatch(none, none, none, none, 0.0, negatives), None)
    assert (found.rows is None) == (loss == "softmax")
    assert found.entities.shape == ((ENTITIES if loss == "softmax" else 0), DIMENSION)
    assert found.relations.shape == embedding.relations.shape
    assert not found.entities.any()
    assert not found.relations.any()
    assert not found.losses.any()
