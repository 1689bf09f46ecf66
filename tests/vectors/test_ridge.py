"""The closed forms of ridge regression agree with fitting again without each row."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgraft.vectors.ridge import STRENGTHS, fit_ridge


def naive_fit(x, y, penalty):
    """Solve (XᵀX + λI) W = XᵀY for centred data."""
    mean_x, mean_y = x.mean(0), y.mean(0)
    a = (x - mean_x).T @ (x - mean_x) + penalty * torch.eye(x.shape[1], dtype=x.dtype)
    w = torch.linalg.solve(a, (x - mean_x).T @ (y - mean_y))
    return lambda row: mean_y + (row - mean_x) @ w


def naive_error(x, y, penalty):
    missed = []
    for i in range(len(x)):
        others = torch.arange(len(x)) != i
        missed.append(y[i] - naive_fit(x[others], y[others], penalty)(x[i]))
    return float((torch.stack(missed) ** 2).mean())


@given(st.integers(4, 12), st.integers(1, 6), st.integers(1, 3), st.integers(0, 1000))
def test_weights_and_error_agree_with_a_loop(rows, inputs, outputs, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, inputs, generator=generator).double() + 3
    y = x @ torch.randn(inputs, outputs, generator=generator).double()
    y += torch.randn(rows, outputs, generator=generator)
    strengths = (0.01, 0.3, 2.0)
    scale = float(((x - x.mean(0)) ** 2).sum()) / inputs
    ridge = fit_ridge(x, y, strengths=strengths)
    errors = {s * scale: naive_error(x, y, s * scale) for s in strengths}
    assert ridge.error == pytest.approx(min(errors.values()), rel=1e-4)
    assert min(errors.values()) == pytest.approx(errors[min(errors, key=errors.get)])
    expected = naive_fit(x, y, ridge.penalty)(x)
    assert torch.allclose(ridge(x.float()).double(), expected, atol=1e-3)


def test_a_linear_relation_is_found(random_vectors):
    x = random_vectors(200, 5)
    y = x @ random_vectors(5, 3, seed=1) + 7
    ridge = fit_ridge(x, y)
    assert torch.allclose(ridge(x), y, atol=0.01)
    assert ridge.error < 1e-4


def test_noise_is_met_with_the_mean(random_vectors):
    x, y = random_vectors(30, 20), random_vectors(30, 4, seed=1)
    ridge = fit_ridge(x, y)
    assert ridge.error < 1.3 * float(y.var(0).mean())
    assert ridge.penalty > STRENGTHS[0] * float(x.var(0).sum())


@pytest.mark.parametrize("rows", [1, 3])
def test_inputs_all_alike_give_the_mean(rows, random_vectors):
    y = random_vectors(rows, 2)
    ridge = fit_ridge(torch.ones(rows, 4), y)
    assert torch.allclose(ridge(torch.full((1, 4), 9.0))[0], y.mean(0), atol=1e-6)
