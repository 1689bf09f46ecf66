"""A trained table serves the graph of training, later versions of it, and entities added since."""

from pathlib import Path

import numpy as np
import pytest
import torch

from kgraft.vectors import FallbackChain, NeighbourFallback, TableVectors, TextFallback, TextVectors

OLD = np.arange(6)


@pytest.fixture
def folder(tmp_path, towns, write, random_vectors):
    return write(tmp_path / "vectors", towns, random_vectors(6, 4), random_vectors(3, 4, seed=1))


@pytest.fixture
def grown(tmp_path, towns):
    """The graph with three more entities: one with triples, one with a text, one without either."""
    entities = [
        {"id": "bonn", "label": "Bonn"},
        {"id": "lyon", "label": "Lyon", "description": "city in France"},
        {"id": "blank", "label": " "},
    ]
    triples = [("bonn", "capital_of", "germany"), ("rhine", "flows_in", "bonn")]
    return towns.extend(tmp_path / "grown", triples=triples, entities=entities)


def test_the_graph_of_training_gets_its_rows(folder, towns, random_vectors):
    vectors = TableVectors.open(folder, towns)
    assert (vectors.dimension, len(vectors)) == (4, 6)
    assert torch.equal(vectors.all(), random_vectors(6, 4))
    assert torch.equal(vectors.take([[3, -1]])[0, 0], random_vectors(6, 4)[3])
    assert set(vectors.origin(OLD)) == {"trained"}


def test_what_is_taken_is_the_callers_own(folder, towns, random_vectors):
    vectors = TableVectors.open(folder, towns)
    for taken in (vectors.take(OLD), vectors.all(), next(vectors.chunks())):
        taken.fill_(7)
    assert torch.equal(vectors.all(), random_vectors(6, 4))


def test_facts_are_those_of_the_writer(tmp_path, towns, write, random_vectors):
    write(tmp_path / "v", towns, random_vectors(6, 2), model="rotate", figures={"mrr": 0.3})
    facts = TableVectors.open(tmp_path / "v", towns).facts
    assert facts == {"model": "rotate", "figures": {"mrr": 0.3}}


def test_an_entity_added_later_gets_the_mean_of_its_neighbours(folder, grown, random_vectors):
    vectors = TableVectors.open(folder, grown, cold_start=NeighbourFallback(rescale=False))
    assert torch.equal(vectors.take(OLD), random_vectors(6, 4))
    bonn = grown.indices_of(["bonn"])
    expected = random_vectors(6, 4)[torch.from_numpy(grown.indices_of(["germany", "rhine"]))]
    assert torch.allclose(vectors.take(bonn)[0], expected.mean(0))
    origin = vectors.origin(np.arange(-1, len(grown.entities))).tolist()
    assert origin == ["none", *["trained"] * 6, "neighbours", "none", "none"]
    assert not vectors.take([7, 8]).any()


def test_neighbours_are_the_default_and_none_leaves_zeros(folder, grown):
    bonn = grown.indices_of(["bonn"])
    assert TableVectors.open(folder, grown).origin(bonn).tolist() == ["neighbours"]
    without = TableVectors.open(folder, grown, cold_start=None)
    assert without.origin(bonn).tolist() == ["none"]
    assert not without.take(bonn).any()


def test_neighbours_else_text_else_nothing(folder, grown, encoder, tmp_path, random_vectors):
    text = TextVectors(grown, encoder, fields=["label", "description"], cache=tmp_path / "cache")
    ways = FallbackChain(NeighbourFallback(), TextFallback(text))
    vectors = TableVectors.open(folder, grown, cold_start=ways)
    assert vectors.origin([5, 6, 7, 8]).tolist() == ["trained", "neighbours", "text", "none"]
    assert torch.equal(vectors.take(OLD), random_vectors(6, 4))
    assert vectors.take([6, 7]).norm(dim=1).min() > 0
    assert not vectors.take([8]).any()
    assert {near.entity.index for near in vectors.nearest(7)} == {0, 1, 2, 3, 4, 5, 6}


def test_an_unseen_entity_is_looked_for_once(folder, grown):
    asked = []

    class Counting(NeighbourFallback):
        def fill(self, entities, trained):
            asked.extend(entities.tolist())
            return super().fill(entities, trained)

    vectors = TableVectors.open(folder, grown, cold_start=Counting())
    first = vectors.take([6, 0, 6, 8])
    vectors.origin([6, 8])
    assert torch.equal(vectors.take([6, 0, 6, 8]), first)
    assert asked == [6, 8]


def test_edges_added_later_are_seen(tmp_path, folder, grown, random_vectors):
    more = grown.extend(tmp_path / "more", triples=[("lyon", "borders", "paris")])
    vectors = TableVectors.open(folder, more, cold_start=NeighbourFallback(rescale=False))
    taken = vectors.take(more.indices_of(["lyon", "paris"]))
    assert torch.allclose(taken[0], taken[1])


def test_the_order_of_entities_may_change(tmp_path, folder, towns, build, random_vectors):
    ids = towns.entities["id"].to_pylist()
    turned = build(tmp_path / "turned", [("alone", "r", "paris")], [{"id": i} for i in ids[::-1]])
    vectors = TableVectors.open(folder, turned)
    assert torch.equal(vectors.take(turned.indices_of(ids)), random_vectors(6, 4))
    assert set(vectors.origin(OLD)) == {"trained"}


def test_entities_and_relations_may_be_taken_away(tmp_path, folder, towns, random_vectors):
    fewer = towns.without(tmp_path / "fewer", entities=["paris"], relations=["borders"])
    vectors = TableVectors.open(folder, fewer)
    rows = towns.indices_of(fewer.entities["id"].to_pylist())
    assert torch.equal(vectors.all(), random_vectors(6, 4)[torch.from_numpy(rows)])


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="tells what is mapped")
def test_the_matrix_is_mapped_not_read(folder, towns):
    vectors = TableVectors.open(folder, towns)
    place = vectors.stored.entities.data_ptr()
    spans = [
        [int(end, 16) for end in line.split()[0].split("-")]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if line.endswith("entities.safetensors")
    ]
    assert any(low <= place < high for low, high in spans)
