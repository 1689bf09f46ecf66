"""A difference is that of the figures, and its interval that of drawing the examples anew."""

import numpy as np
import pytest

from kgraft.errors import BadInput
from kgraft.measure import f1, macro_f1, paired_difference, perplexity, ratio


def hits(right):
    return np.stack([right, np.ones(len(right))], axis=1)


def slow_interval(on, off, figure, samples=2000):
    draw = np.random.default_rng(1)
    found = []
    for _ in range(samples):
        rows = draw.integers(len(on), size=len(on))
        found.append(figure(on[rows].sum(0)) - figure(off[rows].sum(0)))
    return np.quantile(found, [0.025, 0.975])


@pytest.mark.parametrize("figure", [ratio, perplexity])
def test_the_interval_is_that_of_a_plain_bootstrap(figure):
    draw = np.random.default_rng(0)
    on, off = hits(draw.random(300)), hits(draw.random(300) * 0.9)
    found = paired_difference(on, off, figure=figure)
    low, high = slow_interval(on, off, figure)
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)
    assert found.difference == pytest.approx(figure(on.sum(0)) - figure(off.sum(0)))


def test_pairs_make_the_interval_narrow():
    draw = np.random.default_rng(0)
    right = (draw.random(500) < 0.5).astype(float)
    better = right.copy()
    better[np.flatnonzero(right == 0)[:25]] = 1
    found = paired_difference(hits(better), hits(right))
    assert found.difference == pytest.approx(0.05)
    assert 0.02 < found.low < found.high < 0.08


def test_what_makes_no_difference_has_an_interval_of_nothing():
    right = np.array([1.0, 0.0, 1.0])
    found = paired_difference(hits(right), hits(right))
    assert (found.low, found.high) == (0, 0)


@pytest.mark.slow
def test_many_examples_are_drawn_in_parts():
    draw = np.random.default_rng(0)
    right = (draw.random(50_000) < 0.5).astype(float)
    found = paired_difference(hits(right), hits(1 - right), samples=200)
    assert found.low < found.difference < found.high


def test_figures():
    assert f1(np.array([2, 3, 4])) == pytest.approx(4 / 7)
    assert macro_f1(np.array([2, 3, 4, 0, 0, 0])) == pytest.approx(2 / 7)
    assert perplexity(np.array([np.log(8) * 3, 3])) == pytest.approx(8)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(BadInput, match="2 examples on and 3 off"):
        paired_difference(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(BadInput):
        paired_difference(np.ones((0, 2)), np.ones((0, 2)))
