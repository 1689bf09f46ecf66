"""The index finds what comparing with every vector finds, whichever way it keeps them."""

import resource

import faiss
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from kgraft.errors import BadInput
from kgraft.tensors import write_tensors
from kgraft.vectors import index as module
from kgraft.vectors.index import EntityIndex


def built(vectors, part=700):
    parts = range(0, len(vectors), part)
    blocks = [vectors[first : first + part] for first in parts]
    return EntityIndex.build(lambda: iter(blocks), len(vectors), vectors.shape[1])


def naive_dots(known, query):
    """Compare a query with every vector of a dictionary, the obvious way."""
    return {
        entity: sum(q * v for q, v in zip(query.tolist(), vector.tolist(), strict=True))
        / sum(v * v for v in vector.tolist()) ** 0.5
        for entity, vector in known.items()
    }


def agrees(index, known, queries, limit):
    """Check that the index finds the best by naive dots; of equals either may come first."""
    entities, dots = index.search(queries, limit)
    assert entities.shape == dots.shape == (len(queries), limit)
    there = min(limit, len(known))
    for found, scores, query in zip(entities.tolist(), dots.tolist(), queries, strict=True):
        naive = naive_dots(known, query)
        assert len(set(found[:there])) == there
        assert [naive[entity] for entity in found[:there]] == pytest.approx(
            scores[:there], abs=1e-5
        )
        assert scores[:there] == pytest.approx(sorted(naive.values())[::-1][:there], abs=1e-5)
        assert found[there:] == [-1] * (limit - there)
        assert scores[there:] == [-np.inf] * (limit - there)


def numbered(vectors):
    return dict(enumerate(vectors))


@pytest.fixture(scope="module")
def clustered(random_vectors):
    """Vectors in 300 clusters of ten, of all lengths, and queries near some of them."""
    centres = random_vectors(300, 48).repeat(10, 1)
    vectors = centres + 0.6 * random_vectors(3000, 48, seed=1)
    queries = vectors[::40] + 0.4 * random_vectors(75, 48, seed=2)
    return vectors * (1 + torch.arange(3000) % 7)[:, None], queries


@pytest.fixture
def few_are_many(monkeypatch):
    """Sketch more than 20 entities."""
    monkeypatch.setattr(module, "EXACT", 20)


@pytest.fixture
def sketched(clustered, few_are_many):
    return built(clustered[0])


@pytest.fixture(params=["exact", "sketched"])
def either(request, clustered, monkeypatch):
    monkeypatch.setattr(module, "EXACT", 10_000 if request.param == "exact" else 20)
    return built(clustered[0])


# Few entities: all are compared


@given(
    count=st.integers(0, 12),
    dimension=st.integers(1, 5),
    asked=st.integers(0, 4),
    limit=st.integers(1, 15),
    part=st.integers(1, 12),
    seed=st.integers(0, 2**20),
)
def test_few_are_found_as_by_comparing_with_each(
    random_vectors, count, dimension, asked, limit, part, seed
):
    vectors = random_vectors(count, dimension + 1, seed)
    queries = random_vectors(asked, dimension + 1, seed + 1)
    index = built(vectors, part)
    assert (len(index), index.dimension) == (count, dimension + 1)
    agrees(index, numbered(vectors), queries, limit)


changes = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 9), unique=True, max_size=5)), max_size=5
)


@given(changes=changes, seed=st.integers(0, 2**20))
def test_changes_are_those_of_a_dictionary(random_vectors, changes, seed):
    vectors = random_vectors(6, 4, seed)
    index, known = built(vectors), numbered(vectors)
    for turn, (adds, entities) in enumerate(changes, 1):
        if adds:
            new = random_vectors(len(entities), 4, seed + turn)
            index.add(np.array(entities, np.int64), new)
            known |= dict(zip(entities, new, strict=True))
        else:
            index.remove(np.array(entities, np.int64))
            known = {entity: known[entity] for entity in known if entity not in entities}
    agrees(index, known, random_vectors(3, 4, seed + 99), 12)


def test_lengths_do_not_matter(random_vectors):
    vectors, queries = random_vectors(30, 5), random_vectors(4, 5, seed=1)
    longer = vectors * torch.linspace(0.01, 100, 30)[:, None]
    for one, other in zip(
        built(vectors).search(queries, 8), built(longer).search(queries, 8), strict=True
    ):
        assert other == pytest.approx(one, abs=1e-5)


def test_fewer_entities_than_asked_for_are_filled_up(random_vectors):
    found, dots = built(random_vectors(2, 3)).search(random_vectors(3, 3, seed=1), 4)
    assert (found[:, :2] >= 0).all()
    assert (found[:, 2:] == -1).all()
    assert np.isneginf(dots[:, 2:]).all()


def test_no_entities(tmp_path, random_vectors):
    index = EntityIndex.build(list, 0, 3)
    found, dots = index.search(random_vectors(2, 3), 4)
    assert found.tolist() == [[-1] * 4] * 2
    assert np.isneginf(dots).all()
    index.save(tmp_path / "none")
    assert len(EntityIndex.open(tmp_path / "none")) == 0
    index.add(np.array([5]), random_vectors(1, 3))
    agrees(index, {5: random_vectors(1, 3)[0]}, random_vectors(2, 3, seed=1), 2)


# Many entities: a sketch goes before


def test_the_sketch_loses_few(clustered, sketched):
    vectors, queries = clustered
    exact = torch.topk(queries @ normalize(vectors, dim=1).T, 10)
    found, dots = sketched.search(queries, 10)
    shared = [np.isin(*pair).mean() for pair in zip(found, exact.indices.numpy(), strict=True)]
    assert np.mean(shared) >= 0.95
    assert (np.diff(dots, axis=1) <= 0).all()
    assert dots == pytest.approx(exact.values.numpy(), abs=0.3)  # of some 10
    assert isinstance(sketched._stored, faiss.IndexRefine)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 10, 200])
def test_no_entity_is_named_twice(clustered, sketched, limit):
    vectors, queries = clustered
    sketched.add(np.arange(0, 60, 2), vectors[:60:2])
    found, _ = sketched.search(queries, limit)
    assert found.shape == (75, limit)
    assert all(len(np.unique(row)) == limit for row in found)


def test_however_many_are_removed_others_are_found(clustered, sketched):
    _, queries = clustered
    near, _ = sketched.search(queries[:1], 1500)
    sketched.remove(near[0])
    found, _ = sketched.search(queries[:1], 10)
    assert (found >= 0).all()
    assert not np.isin(found, near).any()


def test_a_query_that_says_nothing_is_no_error(sketched):
    found, dots = sketched.search(torch.zeros(2, 48), 3)
    assert found.shape == (2, 3)
    assert not dots[found >= 0].any()


def test_those_that_are_furthest_away_are_no_error(random_vectors, few_are_many):
    vectors = random_vectors(60, 6)
    found, _ = built(vectors).search(-vectors, 60)
    assert all(len(np.unique(row[row >= 0])) == (row >= 0).sum() >= 50 for row in found)


def test_an_entity_without_a_direction_is_as_far_as_one_at_a_right_angle(
    random_vectors, few_are_many
):
    vectors = random_vectors(60, 6)
    vectors[7] = 0
    found, dots = built(vectors).search(vectors[:5], 60)
    assert not np.isnan(dots).any()
    assert dots[found == 7] == pytest.approx(0, abs=0.02)  # a byte per number is not quite 0


@pytest.mark.parametrize("dimension", [6, 8, 10, 7])
def test_any_dimension_can_be_sketched(random_vectors, few_are_many, dimension):
    vectors = random_vectors(700, dimension)
    found, _ = built(vectors).search(vectors[:50], 1)
    assert (found[:, 0] == np.arange(50)).mean() > 0.9


def test_an_index_is_the_same_each_time_it_is_built(tmp_path, clustered, sketched):
    sketched.save(tmp_path / "one")
    built(clustered[0], part=2999).save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


# Both kinds


def test_no_queries(either):
    found, dots = either.search(torch.zeros(0, 48), 7)
    assert found.shape == dots.shape == (0, 7)


def test_a_saved_index_gives_the_same(tmp_path, clustered, either):
    either.save(tmp_path / "new folder" / "index")
    opened = EntityIndex.open(tmp_path / "new folder" / "index")
    assert (len(opened), opened.dimension) == (3000, 48)
    for one, other in zip(
        either.search(clustered[1], 9), opened.search(clustered[1], 9), strict=True
    ):
        assert (one == other).all()
    opened.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "new folder" / "index").read_bytes()


def test_what_was_added_or_removed_is_not_saved(tmp_path, clustered, either):
    vectors, _ = clustered
    either.add(np.array([3000]), vectors[:1])
    either.remove(np.array([5]))
    either.save(tmp_path / "index")
    found, _ = EntityIndex.open(tmp_path / "index").search(vectors[[0, 5]], 1)
    assert found.tolist() == [[0], [5]]


def test_entities_are_added_replaced_removed_and_added_again(either, random_vectors):
    new = random_vectors(3, 48, seed=9)
    either.add(np.array([5000, 4, 3100]), new)  # 4 is there already
    assert either.search(new, 1)[0].tolist() == [[5000], [4], [3100]]

    either.add(np.array([3100]), -new[2:])
    assert either.search(-new[2:], 1)[0].tolist() == [[3100]]
    assert 3100 not in either.search(new[2:], 20)[0]

    either.remove(np.array([4, 5000, 70_000]))
    assert not np.isin(either.search(new, 20)[0], [4, 5000]).any()

    either.add(np.array([4]), new[:1])
    assert either.search(new[:1], 1)[0].tolist() == [[4]]
    assert len(either) == 3000


def test_a_replaced_entity_is_not_found_by_its_old_vector(clustered, either):
    vectors, _ = clustered
    either.add(np.array([8]), -vectors[8:9])
    found, _ = either.search(vectors[8:9], 50)
    assert 8 not in found


def test_removing_what_is_not_there_takes_nothing_out(clustered, either):
    vectors, _ = clustered
    either.remove(np.array([-1, 3000]))
    assert either.search(vectors[-1:], 1)[0].tolist() == [[2999]]


def test_an_entity_added_twice_at_once_is_refused(either, random_vectors):
    with pytest.raises(BadInput, match="added twice"):
        either.add(np.array([1, 7, 1]), random_vectors(3, 48))
    assert 1 not in either.search(random_vectors(1, 48), 1)[0]


# Files


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.unlink(),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_text("a letter to a friend"),
        lambda file: file.write_bytes(file.read_bytes()[:-40]),
        lambda file: file.write_bytes(b"\xff" * file.stat().st_size),
    ],
)
def test_a_damaged_file_is_named(tmp_path, either, damage):
    either.save(tmp_path / "index")
    damage(tmp_path / "index")
    with pytest.raises(BadInput, match="is not an index of entities") as caught:
        EntityIndex.open(tmp_path / "index")
    assert caught.value.file == str(tmp_path / "index")
    assert "\n" not in str(caught.value)


def test_files_of_others_are_refused(tmp_path):
    write_tensors(tmp_path / "foreign", {"vectors": torch.ones(3, 4)})
    with pytest.raises(BadInput) as caught:
        EntityIndex.open(tmp_path / "foreign")
    assert caught.value.file == str(tmp_path / "foreign")


@pytest.mark.parametrize("position", [0, 100, -100, -1])
def test_a_changed_file_is_not_opened(tmp_path, either, monkeypatch, position):
    either.save(tmp_path / "index")
    content = bytearray((tmp_path / "index").read_bytes())
    content[position] ^= 1
    (tmp_path / "index").write_bytes(content)
    monkeypatch.setattr(module.faiss, "read_index", lambda *_: pytest.fail("it was opened"))
    with pytest.raises(BadInput):
        EntityIndex.open(tmp_path / "index")


def test_an_index_that_cannot_be_written_leaves_nothing(tmp_path, either):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, limits[1]))
    try:
        with pytest.raises(OSError):  # noqa: PT011
            either.save(tmp_path / "index")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
