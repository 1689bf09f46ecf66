"""Text vectors are carried over into the space of a trained table."""

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput
from kgraft.vectors import EntityVectors, TextFallback
from kgraft.vectors.trained import TrainedRows


class Given(EntityVectors):
    """Text vectors that are given; entities in `silent` have no text."""

    def __init__(self, graph, vectors, silent=()):
        self.graph, self.vectors, self.silent = graph, vectors, silent
        self.dimension, self.taken = vectors.shape[1], []

    def _take(self, entities):
        self.taken.append(len(entities))
        return self.vectors[torch.from_numpy(entities)]

    def _origin(self, entities):
        return np.where(np.isin(entities, self.silent), "none", "text")


@pytest.fixture
def known(star):
    return [f"leaf{n}" for n in range(1, 401)]


def test_a_linear_relation_carries_over_to_unseen_entities(star, stored, random_vectors, known):
    text = random_vectors(601, 6)
    truth = text @ random_vectors(6, 3, seed=1) + 2
    rows = TrainedRows(stored(truth[star.indices_of(known)], known), star)
    filled = TextFallback(Given(star, text)).fill(rows.unseen, rows)
    assert torch.allclose(filled.vectors, truth[torch.from_numpy(rows.unseen)], atol=0.02)
    assert set(filled.origin) == {"text"}


def test_entities_without_text_are_neither_fitted_nor_filled(star, stored, random_vectors, known):
    text = random_vectors(601, 6)
    truth = text @ random_vectors(6, 3, seed=1)
    silent = [0, *range(1, 101)]
    spoilt = truth.clone()
    spoilt[silent] = 1e6
    rows = TrainedRows(stored(spoilt[star.indices_of(known)], known), star)
    filled = TextFallback(Given(star, text, silent)).fill(np.array([0, 600]), rows)
    assert filled.origin.tolist() == ["none", "text"]
    assert torch.allclose(filled.vectors[1], truth[600], atol=0.02)
    assert not filled.vectors[0].any()


def test_the_fit_is_made_once_from_a_sample(star, stored, random_vectors, known):
    rows = TrainedRows(stored(random_vectors(400, 3), known), star)
    text = Given(star, random_vectors(601, 6))
    way = TextFallback(text, sample=50)
    for _ in range(2):
        way.fill(np.array([0, 600]), rows)
    assert text.taken == [50, 2, 2]
    assert way.fit(rows).weights.shape == (6, 3)


def test_no_text_at_all_knows_nothing(star, stored, random_vectors, known):
    rows = TrainedRows(stored(random_vectors(400, 3), known), star)
    way = TextFallback(Given(star, random_vectors(601, 6), silent=range(601)))
    assert way.fit(rows) is None
    assert way.fill(np.array([0]), rows).origin.tolist() == ["none"]


def test_texts_of_another_graph_are_refused(star, towns, stored, random_vectors, known):
    rows = TrainedRows(stored(random_vectors(400, 3), known), star)
    with pytest.raises(BadInput, match="different graphs"):
        TextFallback(Given(towns, random_vectors(6, 6))).fill(np.array([0]), rows)
