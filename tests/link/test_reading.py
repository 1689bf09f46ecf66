"""The vector of a mention is the weighted mean that its docstring promises."""

import numpy as np
import pytest

from kgraft.link.reading import NEARNESS, read_mentions
from kgraft.text import Encoder


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


def slow(encoder, text, start, end):
    windows = encoder.windows([text])
    window, first, last = (int(x[0]) for x in windows.locate([0], [start], [end]))
    for batch in encoder.encode_tokens(windows):
        for row, number in enumerate(batch.windows):
            if number == window:
                vectors = batch.vectors[row][batch.mask[row]].numpy()
    total = np.zeros(vectors.shape[1])
    for column, vector in enumerate(vectors):
        distance = max(0, first - column, column - (last - 1))
        total += np.exp(-distance / NEARNESS) * vector
    return total / np.linalg.norm(total)


def test_agrees_with_the_formula(encoder):
    text = "She flew from Paris to Georgia and paid in euro."
    spans = np.array([(14, 19), (23, 30), (43, 47)])
    read = read_mentions(encoder, text, spans[:, 0], spans[:, 1])
    for vector, (start, end) in zip(read, spans.tolist(), strict=True):
        np.testing.assert_allclose(vector, slow(encoder, text, start, end), atol=1e-5)


def test_a_long_text_is_read_window_by_window(encoder):
    text = "Nothing much happens here. " * 200 + "Paris is in Texas."
    start = text.index("Paris")
    read = read_mentions(encoder, text, np.array([0, start]), np.array([7, start + 5]))
    np.testing.assert_allclose(read[1], slow(encoder, text, start, start + 5), atol=1e-5)
    assert read[0] @ read[1] < 0.9


def test_a_span_without_tokens_gets_zeros(encoder):
    read = read_mentions(encoder, "a  b", np.array([1]), np.array([3]))
    assert not read.any()
