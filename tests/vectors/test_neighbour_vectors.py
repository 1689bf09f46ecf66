"""What stands around an entity."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgraft.vectors import NeighbourVectors, TableVectors


def around(graph, stored, vectors):
    ids = graph.entities["id"].to_pylist()
    return NeighbourVectors(TableVectors(stored(vectors, ids), graph, cold_start=None))


def naive(graph, vectors, entity):
    triples = graph.triples
    pairs = list(zip(triples.head.tolist(), triples.tail.tolist(), strict=True))
    others = [b for a, b in pairs if a == entity] + [a for a, b in pairs if b == entity]
    if not others:
        return torch.zeros(vectors.shape[1])
    return torch.stack([vectors[other] for other in others]).mean(0)


def test_it_is_the_mean_of_the_neighbours(towns, stored, random_vectors):
    vectors = random_vectors(6, 3)
    found = around(towns, stored, vectors).all()
    expected = torch.stack([naive(towns, vectors, n) for n in range(6)])
    assert torch.allclose(found, expected, atol=1e-6)
    assert found[5].tolist() == [0, 0, 0]


@given(st.lists(st.integers(-1, 5), max_size=20))
def test_any_order_and_repetition(towns, stored, random_vectors, asked):
    vectors = around(towns, stored, random_vectors(6, 3))
    whole = torch.cat([vectors.all(), torch.zeros(1, 3)])
    assert torch.equal(vectors.take(np.array(asked, np.int64)), whole[asked])


def test_origin(towns, stored, random_vectors):
    vectors = around(towns, stored, random_vectors(6, 3))
    assert vectors.origin([0, 5, -1]).tolist() == ["neighbours", "none", "none"]
