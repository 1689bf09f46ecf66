"""What every kind of vectors shares: shapes, padding, blocks, the nearest."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kgraft.errors import BadInput, NotFound
from kgraft.vectors import EntityVectors, SimilarEntity
from kgraft.vectors import entity_vectors as module


class Matrix(EntityVectors):
    """Vectors that are given, to test what the base class does with them."""

    def __init__(self, graph, vectors):
        self.graph, self.vectors, self.dimension = graph, torch.as_tensor(vectors), 3
        self.taken = []

    def _take(self, entities):
        self.taken.append(len(entities))
        return self.vectors[torch.from_numpy(entities)]

    def _origin(self, entities):
        return np.where(entities % 2 == 0, "trained", "neighbours")


@pytest.fixture
def six(towns, random_vectors):
    return Matrix(towns, random_vectors(6, 3))


@pytest.mark.parametrize(
    "asked",
    [[], [0, 5, 0], [[1, -1], [-1, 2]], np.array([[[3]]], np.int32), torch.tensor([[4, -1]]), 3],
)
def test_any_shape_is_taken_and_padding_is_zeros(six, asked):
    taken = six.take(asked)
    flat = np.asarray(asked, np.int64).ravel()
    expected = [six.vectors[n] if n >= 0 else torch.zeros(3) for n in flat]
    assert taken.shape == (*np.shape(asked), 3)
    assert taken.dtype == torch.float32
    assert torch.equal(taken.reshape(-1, 3), torch.stack(expected) if expected else taken)


def test_only_what_is_asked_for_is_taken(six):
    six.take([2, -1, 4])
    assert six.taken == [2]


@pytest.mark.parametrize("asked", [[6], [-2], [[0, 99]]])
def test_numbers_of_no_entity_are_refused(six, asked):
    for look in (six.take, six.origin):
        with pytest.raises(BadInput, match="from 0 to 5"):
            look(asked)


def test_fractions_are_refused(six):
    with pytest.raises(BadInput, match="whole numbers"):
        six.take(np.array([0.5]))


def test_origin_has_the_shape_of_the_question(six):
    origin = six.origin([[0, 1], [-1, 2]])
    assert origin.tolist() == [["trained", "neighbours"], ["none", "trained"]]


def test_all_and_chunks_give_every_vector_in_order(six, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 12)
    assert len(six) == 6
    assert torch.equal(six.all(), six.vectors)
    assert six.taken == [4, 2]
    assert [len(chunk) for chunk in six.chunks(5)] == [5, 1]
    assert torch.equal(torch.cat(list(six.chunks())), six.vectors)


def naive(vectors, query, limit, leave_out):
    """The cosine of each row, one by one."""
    found = []
    for number, row in enumerate(vectors.astype(np.float64)):
        length = np.linalg.norm(row) * np.linalg.norm(query)
        if number != leave_out and length > 0:
            found.append((number, row @ query / length))
    return sorted(found, key=lambda pair: (-round(pair[1], 5), pair[0]))[:limit]


@given(
    hnp.arrays(np.float32, (6, 3), elements=st.integers(-2, 2).map(float)),
    st.integers(0, 5),
    st.integers(1, 8),
)
def test_nearest_agrees_with_a_naive_loop(towns, vectors, entity, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 6)  # two rows a block
        found = Matrix(towns, vectors).nearest(entity, limit=limit)
        by_vector = Matrix(towns, vectors).nearest(vectors[entity], limit=limit)
    expected = naive(vectors, vectors[entity].astype(np.float64), limit, entity)
    assert [near.cosine for near in found] == pytest.approx([c for _, c in expected], abs=1e-5)
    own = naive(vectors, vectors[entity].astype(np.float64), limit, None)
    assert [near.cosine for near in by_vector] == pytest.approx([c for _, c in own], abs=1e-5)
    assert entity not in [near.entity.index for near in found]
    assert all(vectors[near.entity.index].any() for near in found)


def test_equals_come_in_order_of_their_numbers(towns):
    same = Matrix(towns, np.ones((6, 3), np.float32))
    assert [near.entity.index for near in same.nearest(2, limit=3)] == [0, 1, 3]
    (nearest,) = same.nearest(torch.ones(3), limit=1)
    assert nearest == SimilarEntity(towns.entity(0), pytest.approx(1.0))
    entity = {"id": towns.entity(0).id, "label": towns.entity(0).label}
    assert nearest.to_dict() == {**entity, "cosine": nearest.cosine}


def test_nearest_of_the_same_type(six, towns):
    paris, berlin = towns.indices_of(["paris", "berlin"]).tolist()
    for which in (paris, "paris", "Paris", towns["paris"]):
        assert [n.entity.index for n in six.nearest(which, same_type=True)] == [berlin]
    assert six.nearest(int(towns.indices_of(["alone"])[0]), same_type=True) == []


def test_nearest_among_some(six):
    found = six.nearest(0, among=[5, 3, 0, 3, -1])
    assert sorted(near.entity.index for near in found) == [3, 5]
    assert sum(six.taken) == 3  # the entity asked for, and the two


def test_nothing_is_near_to_zeros(six):
    assert six.nearest(torch.zeros(3)) == []


def test_an_unknown_entity_is_refused(six):
    for query in (6, "nobody", -1):
        with pytest.raises(NotFound, match=str(query)):
            six.nearest(query)


def test_vectors_show_themselves_in_short(six):
    name = six.graph.manifest.name
    assert repr(six) == f"<Matrix of {name}: 6 entities, dimension 3>"
    assert name in six._repr_html_()


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (0, {"limit": 0}, "limit is 0"),
        (torch.ones(4), {}, "has 4 numbers; give 3"),
        (torch.tensor([1.0, float("nan"), 0.0]), {}, "not finite"),
        (torch.ones(3), {"same_type": True}, "same_type needs an entity"),
    ],
)
def test_a_bad_question_is_refused(six, query, options, message):
    with pytest.raises(BadInput, match=message):
        six.nearest(query, **options)
