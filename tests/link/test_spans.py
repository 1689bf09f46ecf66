"""Scores and vectors of spans are those of the formulas, span by span."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick

from kgraft.link.spans import allowed_spans, logits_at, span_logits, span_means

SHAPE = st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 12), st.integers(0, 99))


def drawn(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def naive_logit(marks, row, first, last):
    """s_start(i) + s_end(j) + Σ_{t=i..j} s_in(t), with j the last token."""
    inside = sum(marks[row, t, 2].item() for t in range(first, last))
    return marks[row, first, 0].item() + marks[row, last - 1, 1].item() + inside


def all_spans(rows, length):
    return [(b, i, j) for b in range(rows) for i in range(length) for j in range(i + 1, length + 1)]


def columns(spans):
    return (torch.tensor(column) for column in zip(*spans, strict=True))


@given(SHAPE)
@quick
def test_all_spans_have_the_log_odds_of_the_formula(shape):
    rows, length, longest, seed = shape
    marks = drawn(rows, length, 3, seed=seed)
    logits = span_logits(marks, longest)
    assert logits.shape == (rows, length, longest)
    for b in range(rows):
        for i in range(length):
            for w in range(longest):
                fits = i + w < length
                expected = naive_logit(marks, b, i, i + w + 1) if fits else -math.inf
                assert logits[b, i, w].item() == pytest.approx(expected, abs=1e-4)


@given(SHAPE)
@quick
def test_spans_of_any_length_have_the_same_log_odds(shape):
    rows, length, _, seed = shape
    marks, spans = drawn(rows, length, 3, seed=seed), all_spans(rows, length)
    expected = [naive_logit(marks, *span) for span in spans]
    assert logits_at(marks, *columns(spans)).tolist() == pytest.approx(expected, abs=1e-4)


@given(SHAPE)
@quick
def test_the_vector_of_a_span_is_the_mean_of_its_tokens(shape):
    rows, length, _, seed = shape
    vectors, spans = drawn(rows, length, 5, seed=seed), all_spans(rows, length)
    expected = torch.stack([vectors[b, i:j].mean(0) for b, i, j in spans])
    torch.testing.assert_close(span_means(vectors, *columns(spans)), expected, atol=1e-5, rtol=1e-4)


@given(SHAPE)
@quick
def test_spans_are_allowed_where_both_their_ends_are(shape):
    rows, length, longest, seed = shape
    begins, ends = drawn(rows, length, seed=seed) > 0, drawn(rows, length, seed=seed + 1) > 0
    allowed = allowed_spans(begins, ends, longest)
    for b, i, w in torch.cartesian_prod(*map(torch.arange, (rows, length, longest))).tolist():
        expected = i + w < length and bool(begins[b, i] and ends[b, i + w])
        assert allowed[b, i, w] == expected


def test_training_goes_through_all_of_them():
    marks, vectors = (
        drawn(2, 4, 3, seed=0).requires_grad_(),
        drawn(2, 4, 5, seed=1).requires_grad_(),
    )
    spans = list(columns(all_spans(2, 4)))
    total = logits_at(marks, *spans).sum() + span_means(vectors, *spans).sum()
    logits = span_logits(marks, 3)
    (total + logits[logits.isfinite()].sum()).backward()
    assert marks.grad.isfinite().all()
    assert vectors.grad.isfinite().all()
