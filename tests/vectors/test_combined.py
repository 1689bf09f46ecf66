"""Several kinds of vectors side by side."""

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput
from kgraft.vectors import CombinedVectors, TableVectors


def table(stored, graph, vectors, ids):
    return TableVectors(stored(vectors, ids), graph, cold_start=None)


@pytest.fixture
def parts(towns, stored, random_vectors):
    ids = towns.entities["id"].to_pylist()
    one = table(stored, towns, random_vectors(5, 3) * 9, ids[:5])
    two = table(stored, towns, random_vectors(4, 2, seed=1), ids[1:5])
    return one, two


def _cosine(vectors, entity, other):
    return {near.entity.index: near.cosine for near in vectors.nearest(entity)}[other]


def naive(parts, weights, entity):
    row = []
    for part, weight in zip(parts, weights, strict=True):
        vector = part.take([entity])[0]
        row += (vector / (vector.norm() or 1) * weight).tolist()
    return row


@pytest.mark.parametrize("weights", [None, [2.0, 0.5]])
def test_parts_are_scaled_weighed_and_joined(parts, weights):
    both = CombinedVectors(parts, weights=weights)
    assert both.dimension == 5
    expected = [naive(parts, weights or [1, 1], n) for n in range(6)]
    assert torch.allclose(both.all(), torch.tensor(expected), atol=1e-6)
    assert both.take([[0, -1]]).shape == (1, 2, 5)


def test_the_cosine_is_the_weighed_mean_of_the_cosines(parts):
    both = CombinedVectors(parts, weights=[2, 1])
    cosines = [_cosine(part, 2, 3) for part in parts]
    assert _cosine(both, 2, 3) == pytest.approx((4 * cosines[0] + cosines[1]) / 5, abs=1e-5)


def test_the_origin_is_that_of_the_first_that_knows(parts):
    class Text(TableVectors):
        def _origin(self, entities):
            return np.where(entities == 4, "none", "text")

    text = Text(parts[1].stored, parts[1].graph)
    origin = CombinedVectors([text, parts[0]]).origin([0, 4, 5])
    assert origin.tolist() == ["text", "trained", "text"]
    assert CombinedVectors(parts).origin([0, 4, 5]).tolist() == ["trained", "trained", "none"]


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1], [1, float("inf")], [1, float("nan")]])
def test_bad_weights_are_refused(parts, weights):
    with pytest.raises(BadInput, match="give 2 numbers above 0"):
        CombinedVectors(parts, weights=weights)


def test_nothing_to_combine_is_refused():
    with pytest.raises(BadInput, match="no vectors to combine"):
        CombinedVectors([])


def test_vectors_of_different_graphs_are_refused(parts, star, stored, random_vectors):
    other = table(stored, star, random_vectors(1, 2), ["hub"])
    with pytest.raises(BadInput, match="vectors of different graphs"):
        CombinedVectors([parts[0], other])
