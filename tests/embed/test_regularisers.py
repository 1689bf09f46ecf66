"""Regularisers are sums over coordinates, real or complex."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kgraft.embed.regularisers import l2, n3

vectors = arrays(np.float64, st.tuples(st.integers(1, 4), st.sampled_from([2, 4, 6])),
                 elements=st.floats(-9, 9, width=32))  # fmt: skip
thorough = settings(max_examples=30, deadline=None)


@thorough
@given(vectors)
def test_n3_of_real_vectors(drawn):
    expected = [sum(abs(x) ** 3 for x in row) for row in drawn.tolist()]
    found = n3(torch.from_numpy(drawn), complex_pairs=False)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)


@thorough
@given(vectors)
def test_n3_of_complex_vectors(drawn):
    half = drawn.shape[1] // 2
    expected = [
        sum(abs(complex(row[i], row[half + i])) ** 3 for i in range(half)) for row in drawn.tolist()
    ]
    found = n3(torch.from_numpy(drawn), complex_pairs=True)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)


@thorough
@given(vectors)
def test_l2(drawn):
    expected = [sum(x * x for x in row) for row in drawn.tolist()]
    np.testing.assert_allclose(l2(torch.from_numpy(drawn)).numpy(), expected, rtol=1e-9)


def test_gradients_at_zero_are_zero():
    for size in (l2, lambda v: n3(v, complex_pairs=True), lambda v: n3(v, complex_pairs=False)):
        zeros = torch.zeros(2, 4, requires_grad=True)
        size(zeros).sum().backward()
        assert not zeros.grad.any()
