"""An unseen entity's vector is the mean of what its edges predict."""

import numpy as np
import pytest
import torch

from kgraft.vectors import NeighbourFallback
from kgraft.vectors import neighbour_fallback as module
from kgraft.vectors.trained import TrainedRows

KNOWN = ["paris", "france", "berlin", "rhine"]  # germany and alone are unseen
RELATIONS = ["borders", "flows_in", "capital_of"]


@pytest.fixture
def trained(towns, stored, random_vectors):
    return TrainedRows(stored(random_vectors(4, 3), KNOWN, RELATIONS), towns)


def naive(trained, entity, guess):
    """Look at each triple of the split in turn."""
    graph, found = trained.graph, []
    for head, relation, tail in zip(
        graph.triples.head, graph.triples.relation, graph.triples.tail, strict=True
    ):
        for one, other, direction in ((head, tail, -1), (tail, head, 1)):
            if one == entity and trained.rows(np.array([other]))[0] >= 0:
                vector = trained.take(np.array([other], np.int64))[0]
                found.append(guess(vector, trained.relations[relation], direction))
    return torch.stack(found).mean(0) if found else torch.zeros(trained.dimension)


def test_the_mean_of_the_neighbours(towns, trained):
    germany, alone = towns.indices_of(["germany", "alone"])
    filled = NeighbourFallback(rescale=False).fill(np.array([germany, alone]), trained)
    expected = naive(trained, germany, lambda vector, relation, direction: vector)
    assert torch.allclose(filled.vectors[0], expected)
    assert filled.origin.tolist() == ["neighbours", "none"]
    assert not filled.vectors[1].any()


def test_the_mean_is_scaled_to_the_usual_length(towns, trained):
    germany = towns.indices_of(["germany"])
    plain = NeighbourFallback(rescale=False).fill(germany, trained).vectors[0]
    scaled = NeighbourFallback().fill(germany, trained).vectors[0]
    assert float(scaled.norm()) == pytest.approx(trained.usual_length, rel=1e-5)
    assert float(torch.cosine_similarity(plain, scaled, 0)) == pytest.approx(1)


def test_a_guess_gets_rows_of_relations_and_directions(towns, trained, random_vectors):
    relations = random_vectors(3, 3, seed=5)

    def guess(vectors, relation, direction):
        return vectors + direction[:, None] * relations[relation]

    germany = towns.indices_of(["germany"])
    filled = NeighbourFallback(guess, rescale=False).fill(germany, trained)
    expected = naive(trained, germany[0], lambda v, r, d: v + d * relations[r])
    assert torch.allclose(filled.vectors[0], expected, atol=1e-6)


@pytest.mark.parametrize("rescale", [True, False])
def test_the_guess_of_transe_recovers_an_exact_vector(
    tmp_path, build, stored, random_vectors, rescale
):
    """With h + r = t for every triple, and all of length 1, the lost row is found again."""
    triples = [tuple(triple) for triple in ("arx", "xsb", "ctx")]
    graph = build(tmp_path / "g", triples, [{"id": name} for name in "abcx"])
    vectors = torch.nn.functional.normalize(random_vectors(4, 5), dim=1)
    a, b, c, x = vectors
    relations = torch.stack([x - c, x - a, b - x])  # of t, r, s
    rows = TrainedRows(stored(vectors[:3], "abc", "trs"), graph)

    def guess(vectors, relation, direction):
        return vectors + direction[:, None] * relations[relation]

    filled = NeighbourFallback(guess, rescale=rescale).fill(graph.indices_of(["x"]), rows)
    assert torch.allclose(filled.vectors[0], x, atol=1e-6)


def test_edges_of_unknown_relations_are_of_no_use_to_a_guess(towns, stored, random_vectors):
    rows = TrainedRows(stored(random_vectors(4, 3), KNOWN, ["flows_in"]), towns)
    germany = towns.indices_of(["germany"])
    seen = []

    def guess(vectors, relation, direction):
        seen.extend(relation.tolist())
        return vectors

    filled = NeighbourFallback(guess, rescale=False).fill(germany, rows)
    assert seen == [0]
    assert torch.allclose(filled.vectors[0], rows.take(towns.indices_of(["rhine"]))[0])


def test_unseen_neighbours_are_left_out(towns, stored, random_vectors):
    rows = TrainedRows(stored(random_vectors(2, 3), ["berlin", "alone"]), towns)
    paris, germany = towns.indices_of(["paris", "germany"])
    filled = NeighbourFallback(rescale=False).fill(np.array([paris, germany]), rows)
    assert filled.origin.tolist() == ["none", "neighbours"]  # france is unseen itself
    assert torch.allclose(filled.vectors[1], rows.take(towns.indices_of(["berlin"]))[0])


def test_only_edges_of_the_split_are_seen(small_splits, stored, random_vectors):
    ids = ["b", "c"]
    for graph, expected in ((small_splits, [0, 1]), (small_splits.split("train"), [0])):
        rows = TrainedRows(stored(random_vectors(2, 3), ids), graph)
        filled = NeighbourFallback(rescale=False).fill(graph.indices_of(["a"]), rows)
        assert torch.allclose(filled.vectors[0], random_vectors(2, 3)[expected].mean(0))


@pytest.fixture
def small_splits(tmp_path, build):
    triples = [("a", "r", "b", "train"), ("a", "r", "c", "test"), ("b", "r", "c", "train")]
    return build(tmp_path / "graph", triples, [{"id": i} for i in "abc"])


def hub(star, stored, vectors, most):
    ids = [f"leaf{n}" for n in range(1, 601)]
    rows = TrainedRows(stored(vectors, ids), star)
    asked = []

    def guess(vectors, relation, direction):
        asked.append(vectors)
        return vectors

    rows.relations[:] = 0
    filled = NeighbourFallback(guess, rescale=False, most=most).fill(np.array([0]), rows)
    return filled.vectors[0], torch.cat(asked)


def test_a_hub_looks_at_some_edges_only_and_always_the_same(star, stored):
    vectors = torch.eye(600)
    mean, asked = hub(star, stored, vectors, 100)
    assert len(asked) == 100
    assert len(torch.unique(asked, dim=0)) == 100
    assert torch.equal(mean, hub(star, stored, vectors, 100)[0])
    assert len(hub(star, stored, vectors, 1000)[1]) == 600


def test_the_choice_of_edges_has_no_bias(star, stored):
    _, asked = hub(star, stored, torch.eye(600), 300)
    chosen = asked.argmax(1)
    assert 120 < int((chosen < 300).sum()) < 180
    by_relation = np.bincount((chosen.numpy() + 1) % 3)
    assert (abs(by_relation - 100) < 30).all()


def test_an_answer_does_not_depend_on_the_block(star, stored, random_vectors, monkeypatch):
    ids = ["hub", *(f"leaf{n}" for n in range(1, 301))]
    rows = TrainedRows(stored(random_vectors(301, 3), ids), star)
    entities = rows.unseen
    whole = NeighbourFallback().fill(entities, rows)
    monkeypatch.setattr(module, "EDGES", 4)
    cut = NeighbourFallback().fill(entities, rows)
    assert torch.equal(whole.vectors, cut.vectors)
    assert (whole.origin == "neighbours").all()


def test_nothing_asked_is_nothing_found(trained):
    assert NeighbourFallback().fill(np.zeros(0, np.int64), trained).vectors.shape == (0, 3)
