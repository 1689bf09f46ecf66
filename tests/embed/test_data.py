"""What a graph gives to training."""

import numpy as np
import pytest
from tests.embed.tiny import build, desk_triples

from kgraft.embed.data import EVERY, training_data
from kgraft.errors import BadInput


def triples_of(queries):
    """Return the triples that queries were made of."""
    owner = np.repeat(np.arange(len(queries)), np.diff(queries.bounds))
    ends = zip(queries.entity[owner], queries.relation[owner], queries.answer, strict=True)
    return {(int(h), int(r), int(t)) for h, r, t in ends if r < queries.relations}


def rows(triples):
    return set(zip(triples.head.tolist(), triples.relation.tolist(), triples.tail.tolist(),
                   strict=True))  # fmt: skip


def test_splits_are_kept_apart(desks):
    data = training_data(desks, seed=0)
    assert {tuple(row) for row in data.triples.tolist()} == rows(desks.split("train").triples)
    assert len(data.triples) == len(desks.split("train").triples)
    assert triples_of(data.train) == rows(desks.split("train").triples)
    assert triples_of(data.valid) == rows(desks.split("valid").triples)
    assert triples_of(data.known) == rows(desks.triples)
    assert (data.entities, data.relations, data.held_out) == (44, 6, 0)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The desks without a valid split."""
    triples = [(h, r, t) for h, r, t, _ in desk_triples()]
    return build(tmp_path_factory.mktemp("plain") / "graph", triples)


def test_without_a_valid_split_some_triples_are_held_out(plain):
    data = training_data(plain, seed=0)
    assert data.held_out == len(plain.triples) // EVERY == 6
    train, valid = triples_of(data.train), triples_of(data.valid)
    assert len(valid) == 6
    assert not train & valid
    assert train | valid == rows(plain.triples) == triples_of(data.known)
    assert {tuple(row) for row in data.triples.tolist()} == train


def test_what_is_held_out_comes_from_the_seed(plain):
    held = [triples_of(training_data(plain, seed=seed).valid) for seed in (0, 0, 1)]
    assert held[0] == held[1] != held[2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_every_entity_and_relation_keeps_a_triple(tmp_path, seed):
    random = np.random.default_rng(seed)
    pairs = {(int(a), int(b)) for a, b in random.integers(60, size=(100, 2))}
    triples = [(f"e{a}", f"r{min(a, 8)}", f"e{b}") for a, b in sorted(pairs)]
    graph = build(tmp_path / "graph", triples)
    data = training_data(graph, seed=seed)
    assert 0 < data.held_out <= len(pairs) // EVERY
    assert set(data.triples[:, [0, 2]].ravel().tolist()) == set(range(graph.manifest.entities))
    assert set(data.triples[:, 1].tolist()) == set(range(graph.manifest.relations))


def test_nothing_is_held_out_of_a_chain(tmp_path):
    graph = build(tmp_path / "graph", [(f"e{n}", "next", f"e{n + 1}") for n in range(0, 60, 2)])
    data = training_data(graph, seed=0)
    assert data.held_out == 0
    assert len(data.valid) == 0


def test_a_small_graph_is_learnt_whole(tmp_path):
    graph = build(tmp_path / "graph", [("a", "r", f"b{n}") for n in range(EVERY - 1)])
    assert len(training_data(graph, seed=0).triples) == EVERY - 1


def test_an_empty_train_split_is_refused(tmp_path):
    graph = build(tmp_path / "towns", [("a", "r", "b", "valid"), ("b", "r", "a", "test")])
    with pytest.raises(BadInput) as refused:
        training_data(graph, seed=0)
    assert str(refused.value) == (
        "towns has no training triples; import it with a train.tsv or triples.tsv that holds some"
    )


def test_a_triple_of_two_splits_is_known_once(tmp_path):
    graph = build(tmp_path / "graph", [("a", "r", "b", "train"), ("a", "r", "b", "valid")])
    data = training_data(graph, seed=0)
    assert len(data.known.answer) == 2  # batch from either end
