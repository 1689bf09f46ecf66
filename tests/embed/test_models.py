"""The contract of every model: its scores are those of its paper, asked for from either end."""

import cmath
from math import hypot, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.embed.tiny import few

from kgraft.embed import models
from kgraft.embed.model import Model
from kgraft.embed.models import MODELS
from kgraft.embed.settings import EmbedSettings
from kgraft.embed.similarity import SIMILARITIES
from kgraft.embed.tables import EmbeddingTables
from kgraft.errors import BadInput


def complex_numbers(vector):
    """Return the complex numbers of a vector: real parts, then imaginary ones."""
    half = len(vector) // 2
    return [complex(vector[i], vector[half + i]) for i in range(half)]


def transe_differences(h, r, t):
    return [hi + ri - ti for hi, ri, ti in zip(h, r, t, strict=True)]


def rotate_differences(h, angles, t):
    pairs = zip(complex_numbers(h), angles, complex_numbers(t), strict=True)
    return [hi * cmath.exp(1j * angle) - ti for hi, angle, ti in pairs]


def distmult(h, r, t):
    return sum(hi * ri * ti for hi, ri, ti in zip(h, r, t, strict=True))


def complex_score(h, r, t):
    parts = zip(*map(complex_numbers, (h, r, t)), strict=True)
    return sum((hi * ri * ti.conjugate()).real for hi, ri, ti in parts)


def pairre_differences(h, r, t):
    unit_h, unit_t = ([x / max(euclidean(v), 1e-12) for x in v] for v in (h, t))
    return [
        hi * of_head - ti * of_tail
        for hi, ti, of_head, of_tail in zip(unit_h, unit_t, r[: len(h)], r[len(h) :], strict=True)
    ]


def of_sizes(differences, measure):
    """Return −measure of the sizes of the differences."""
    return lambda h, r, t: -measure([abs(d) for d in differences(h, r, t)])


def euclidean(sizes):
    return hypot(*sizes)


def square(sizes):
    return sum(size**2 for size in sizes)


NAIVE = {
    ("complex", "dot"): complex_score,
    ("distmult", "dot"): distmult,
    ("pairre", "l1"): of_sizes(pairre_differences, sum),
    ("pairre", "l2"): of_sizes(pairre_differences, euclidean),
    ("rotate", "modulus"): of_sizes(rotate_differences, sum),
    ("rotate", "l2"): of_sizes(rotate_differences, euclidean),
    ("rotate", "squared"): of_sizes(rotate_differences, square),
    ("transe", "l1"): of_sizes(transe_differences, sum),
    ("transe", "l2"): of_sizes(transe_differences, euclidean),
    ("transe", "squared"): of_sizes(transe_differences, square),
}
PAIRS = [
    (m.name, similarity) for m in [MODELS[name] for name in MODELS] for similarity in m.similarities
]
CASES = [(*pair, reciprocal) for pair in PAIRS for reciprocal in (True, False)]
every_case = pytest.mark.parametrize(("model", "similarity", "reciprocal"), CASES)
every_pair = pytest.mark.parametrize(("model", "similarity"), PAIRS)


def test_every_model_has_a_naive_version():
    assert sorted(NAIVE) == sorted(PAIRS)


def test_every_file_declares_a_model():
    files = {path.stem for path in Path(models.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == set(MODELS)
    for name in files:
        assert isinstance(MODELS[name], Model)
        assert MODELS[name].name == name


@pytest.mark.parametrize("model", [MODELS[name] for name in MODELS], ids=MODELS)
def test_a_model_says_what_it_is(model):
    assert model.paper
    assert model.formula
    assert model.similarities
    assert set(model.similarities) <= SIMILARITIES.keys()


def make(model, similarity, reciprocal, entities, relations):
    loss = "sampled-softmax"  # fits every similarity
    settings = EmbedSettings(
        model=model,
        similarity=similarity,
        reciprocal=reciprocal,
        dimension=entities.shape[1],
        loss=loss,
    )
    return EmbeddingTables(settings, entities, relations)


@st.composite
def embeddings(draw, model, similarity, reciprocal):
    """Draw an embedding in double precision, often with equal vectors and with zeros."""
    count, relations = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    dimension = draw(st.integers(1, 4)) * (2 if MODELS[model].complex_pairs else 1)
    shapes = (
        (count, dimension),
        (relations * (1 + reciprocal), MODELS[model].relation_width(dimension)),
    )
    values = st.floats(-8, 8, width=32)
    tables = [torch.from_numpy(draw(arrays(np.float64, s, elements=values))) for s in shapes]
    return make(model, similarity, reciprocal, *tables)


def naive_score(embedding, head, relation, tail):
    naive = NAIVE[embedding.settings.model, embedding.settings.similarity]
    vectors = embedding.entities[head], embedding.relations[relation], embedding.entities[tail]
    return naive(*(vector.tolist() for vector in vectors))


def all_triples(embedding):
    count = range(len(embedding.entities))
    relations = range(embedding.relation_count)
    return [(h, r, t) for h in count for r in relations for t in count]


def near(found, expected):
    """Compare; a root near 0 is held above 10⁻⁶, and squares cancel."""
    expected = torch.as_tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=2e-5)


@every_case
@few
@given(data=st.data())
def test_scores_of_triples_are_those_of_the_paper(model, similarity, reciprocal, data):
    embedding = data.draw(embeddings(model, similarity, reciprocal))
    triples = all_triples(embedding)
    found = embedding.score_triples(*torch.tensor(triples).T)
    near(found, [naive_score(embedding, *triple) for triple in triples])


@every_case
@few
@given(data=st.data())
def test_scores_of_all_tails_are_those_of_triples(model, similarity, reciprocal, data):
    embedding = data.draw(embeddings(model, similarity, reciprocal))
    triples = torch.tensor(all_triples(embedding))
    heads, relations, _ = queries = triples.view(-1, len(embedding.entities), 3)[:, 0].T
    found = embedding.score_tails(heads, relations)
    assert found.shape == (queries.shape[1], len(embedding.entities))
    near(found.flatten(), embedding.score_triples(*triples.T))


@every_case
@few
@given(data=st.data())
def test_scores_of_all_heads_are_those_of_asking_back(model, similarity, reciprocal, data):
    embedding = data.draw(embeddings(model, similarity, reciprocal))
    count = embedding.relation_count
    triples = all_triples(embedding)
    h, r, t = torch.tensor(triples).T
    expected = [
        # A reciprocal relation has a vector of its own for (t, r⁻¹, h).
        naive_score(embedding, t, r + count, h) if reciprocal else naive_score(embedding, h, r, t)
        for h, r, t in triples
    ]
    near(embedding.score_heads(r, t)[range(len(h)), h], expected)


@every_pair
@few
@given(data=st.data())
def test_a_relation_turned_round_gives_the_score_of_the_head(model, similarity, data):
    embedding = data.draw(embeddings(model, similarity, reciprocal=False))
    declared = MODELS[model]
    triples = all_triples(embedding)
    h, r, t = torch.tensor(triples).T
    inverse = declared.invert(embedding.relations[r])
    queries = declared.query(embedding.entities[t], inverse, {})[:, None]
    found = embedding.compare(queries, embedding.entities[h][:, None])[:, 0, 0]
    near(found, [naive_score(embedding, *triple) for triple in triples])


@every_case
def test_single_precision_is_near(model, similarity, reciprocal):
    width = MODELS[model].relation_width(16)
    generator = torch.Generator().manual_seed(1)
    entities = torch.randn(10, 16, generator=generator)
    relations = torch.randn(3 * (1 + reciprocal), width, generator=generator)
    embedding = make(model, similarity, reciprocal, entities, relations)
    h, r, t = torch.tensor(all_triples(embedding)).T
    expected = [naive_score(embedding, *triple) for triple in all_triples(embedding)]
    for found in (embedding.score_triples(h, r, t), embedding.score_tails(h, r)[range(len(t)), t]):
        # ‖q − t‖ comes from squares of about 20, exact to 10⁻⁷ of that: its root to 3 · 10⁻³.
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=5e-3)


@every_case
@pytest.mark.parametrize("value", [0.0, 1.0, -3e-30, 1e4, 0.1])
def test_gradients_are_finite_where_all_is_equal(model, similarity, reciprocal, value):
    declared = MODELS[model]
    entities = torch.full((4, 6), value).requires_grad_()
    relations = torch.zeros(1 + reciprocal, declared.relation_width(6)).requires_grad_()
    embedding = make(model, similarity, reciprocal, entities, relations)
    same = torch.tensor([0, 1])
    none = torch.zeros(2, dtype=torch.int64)
    scores = (
        embedding.score_triples(same, none, same).sum()
        + embedding.score_tails(same, none).sum()
        + embedding.score_heads(none, same).sum()
    )
    scores.backward()
    assert scores.isfinite()
    assert entities.grad.isfinite().all()
    assert relations.grad.isfinite().all()


@every_case
def test_first_vectors_come_from_the_seed(model, similarity, reciprocal):
    changes = {"model": model, "similarity": similarity, "reciprocal": reciprocal}
    settings = EmbedSettings(**changes, loss="margin", dimension=64, scale=0.5, seed=3)
    drawn = EmbeddingTables.draw(settings, 200, 7)
    again = EmbeddingTables.draw(settings, 200, 7)
    other = EmbeddingTables.draw(settings.replace(seed=4), 200, 7)
    assert drawn.entities.shape == (200, 64)
    width = MODELS[model].relation_width(64)
    assert drawn.relations.shape == (7 * (1 + reciprocal), width)
    assert drawn.relation_count == 7
    assert torch.equal(drawn.entities, again.entities)
    assert torch.equal(drawn.relations, again.relations)
    assert not torch.equal(drawn.entities, other.entities)
    assert float(drawn.entities.std()) == pytest.approx(0.5, rel=0.05)
    spread = 0.5 if MODELS[model].free_relations else pi / sqrt(3)  # of the whole circle
    assert float(drawn.relations.std()) == pytest.approx(spread, rel=0.15)


def test_a_dimension_that_does_not_fit_is_said():
    MODELS["transe"].check_dimension(3)
    MODELS["complex"].check_dimension(4)
    with pytest.raises(BadInput, match="dimension is 3"):
        MODELS["complex"].check_dimension(3)
