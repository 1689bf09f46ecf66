"""What an entity is a kind of, all the way up."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import NotFound
from kgraft.vectors import AncestorVectors
from kgraft.vectors.ancestor_vectors import climbed

KINDS = [
    ("poodle", "hypernym", "dog"),
    ("dog", "hypernym", "animal"),
    ("dog", "hypernym", "pet"),
    ("pet", "hypernym", "animal"),
    ("dog", "eats", "bone"),
]
NAMES = ["poodle", "dog", "pet", "animal", "bone"]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory, build):
    return build(tmp_path_factory.mktemp("kinds") / "graph", KINDS, [{"id": n} for n in NAMES])


def naive(own, parents, entity):
    """The sum, from the definition."""
    above = [naive(own, parents, parent) for parent in parents.get(entity, [])]
    return own[entity] + (np.mean(above, axis=0) if above else 0)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 8)), max_size=20), st.integers(0, 9))
def test_it_is_what_the_definition_says(pairs, seed):
    pairs = [(child, parent) for child, parent in pairs if parent < child]
    parents = {}
    for child, parent in pairs:
        parents.setdefault(child, []).append(parent)
    child, parent = np.array(pairs, np.int64).reshape(-1, 2).T
    own = np.random.default_rng(seed).standard_normal((10, 4)).astype(np.float32)
    expected = np.stack([naive(own, parents, entity) for entity in range(10)])
    np.testing.assert_allclose(climbed(own, child, parent), expected, rtol=1e-4, atol=1e-5)


def test_ancestors_show_in_the_product(kinds):
    found = AncestorVectors(kinds, ["hypernym"], dimension=512).all()
    poodle, dog, pet, animal, bone = kinds.indices_of(NAMES).tolist()
    top = found[animal]  # of that which has no parents it is its own random vector
    for entity in (poodle, dog, pet, animal):
        assert found[entity] @ top > 0.7
    assert abs(found[bone] @ top) < 0.3


def test_circles_come_to_an_end():
    own = np.ones((2, 1), np.float32)
    assert np.isfinite(climbed(own, np.array([0, 1]), np.array([1, 0]))).all()


def test_the_same_graph_gives_the_same_vectors(kinds):
    one, other = (AncestorVectors(kinds, ["hypernym"]).all() for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, AncestorVectors(kinds, ["hypernym"], seed=1).all())


def test_a_relation_that_the_graph_lacks_is_refused(kinds):
    with pytest.raises(NotFound, match="'subclass'"):
        AncestorVectors(kinds, ["subclass"])


def test_origin(kinds):
    vectors = AncestorVectors(kinds, ["hypernym"])
    assert vectors.origin([0, -1]).tolist() == ["neighbours", "none"]
