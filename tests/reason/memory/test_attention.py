"""Attention over the best scores, against loops."""

import numpy as np
import pytest

from kgraft.reason.memory.attention import attend


@pytest.mark.parametrize("count", [1, 3, 9])
def test_weights_are_a_softmax_over_the_best(count):
    scores = np.random.default_rng(0).standard_normal((4, 6))
    scores[1, 2:] = -np.inf
    columns, weights = attend(scores, count, 0.3)
    for row, own in enumerate(scores):
        best = sorted(range(6), key=lambda n: -own[n])[:count]
        exponentials = [np.exp(own[n] / 0.3) for n in best]
        kept = min(count, int(np.isfinite(own).sum()))
        assert columns[row, :kept].tolist() == best[:kept]
        assert weights[row] == pytest.approx(np.array(exponentials) / sum(exponentials))


def test_nothing_to_attend_to():
    assert attend(np.zeros((2, 0)), 3, 1.0)[1].shape == (2, 0)
    assert not attend(np.full((1, 2), -np.inf), 3, 1.0)[1].any()
