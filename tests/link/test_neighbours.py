"""The index for searching by meaning: built on request, used only where it fits."""

import logging

import numpy as np
import pytest
import torch
from tests.graph.tiny import build

from kgraft.link.knowledge import Knowledge, entity_text_vectors
from kgraft.link.linker import Linker
from kgraft.link.neighbours import ENCODED, STATIC, NeighbourIndex, index_file
from kgraft.text import Encoder, StaticEncoder


@pytest.fixture(autouse=True)
def _own_cache(own_cache):
    return own_cache


@pytest.fixture
def encoder(model):
    return model.entity_encoder


@pytest.fixture
def vectors(graph, encoder):
    return entity_text_vectors(graph, encoder)


def indexes(own_cache):
    return sorted(path.name for path in (own_cache / "indexes").iterdir())


def test_there_is_no_index_until_it_is_built(graph, encoder, vectors, own_cache, caplog):
    assert NeighbourIndex.open(graph, encoder) is None
    assert not caplog.records
    NeighbourIndex.build(vectors)
    assert NeighbourIndex.open(graph, encoder) is not None
    assert indexes(own_cache) == [f"{graph.manifest.version}-encoded-{encoder.identity[:16]}.faiss"]


def test_the_nearest_entities_are_those_with_the_highest_cosine(vectors):
    index = NeighbourIndex.build(vectors)
    queries = torch.randn(5, 48, generator=torch.Generator().manual_seed(2)) * 3
    entity, cosine = index.search(["any"] * 5, queries, 4)
    for row, query in enumerate(queries):
        naive = [float(v @ query / query.norm()) for v in vectors.all()]
        order = sorted(range(len(naive)), key=lambda e: -naive[e])[:4]
        assert entity[row].tolist() == order
        assert cosine[row].tolist() == pytest.approx([naive[e] for e in order], abs=1e-5)


def test_fewer_entities_than_asked_for_are_padded(encoder, tmp_path):
    graph = build(tmp_path / "one", [], [{"id": "a", "label": "Alone"}], None)
    index = NeighbourIndex.build(entity_text_vectors(graph, encoder))
    entity, _ = index.search(["any"], torch.ones(1, 48), 3)
    assert entity.tolist() == [[0, -1, -1]]


@pytest.mark.slow
def test_a_static_index_is_searched_by_words(graph, vectors, own_cache):
    index = NeighbourIndex.build(vectors, static=True)
    assert index.static
    entity, cosine = index.search(["a city on the Seine"], torch.zeros(1, 48), 3)
    assert graph.entity(int(entity[0, 0])).id == "fr-paris"
    assert (np.diff(cosine[0]) <= 0).all()
    assert cosine[0, 0] <= 1 + 1e-5
    identity = StaticEncoder.load().identity[:16]
    assert indexes(own_cache) == [f"{graph.manifest.version}-static-{identity}.faiss"]


def test_searching_a_static_index_loads_its_encoder_once(vectors, monkeypatch):
    index = NeighbourIndex.build(vectors, static=True)
    index.search(["a city"], torch.zeros(1, 48), 3)
    monkeypatch.setattr(StaticEncoder, "load", None)
    index.search(["a river"], torch.zeros(1, 48), 3)


def test_an_encoded_index_is_preferred_to_a_static_one(graph, encoder, vectors):
    NeighbourIndex.build(vectors, static=True)
    assert NeighbourIndex.open(graph, encoder).static
    NeighbourIndex.build(vectors)
    assert not NeighbourIndex.open(graph, encoder).static


def test_an_index_of_another_encoder_is_not_used(graph, encoder, vectors, narrow, caplog):
    NeighbourIndex.build(vectors)
    with caplog.at_level(logging.WARNING, "kgraft.link"):
        assert NeighbourIndex.open(graph, narrow.entity_encoder) is None
    [record] = caplog.records
    assert record.getMessage() == (
        f"the index of this graph is of another encoder; run: kgraft link index {graph.folder}"
    )


@pytest.mark.parametrize("kind", [ENCODED, STATIC])
def test_a_damaged_index_is_not_used(graph, encoder, vectors, caplog, kind):
    NeighbourIndex.build(vectors, static=kind == STATIC)
    index_file(graph, encoder, kind).write_bytes(b"half")
    with caplog.at_level(logging.WARNING, "kgraft.link"):
        assert NeighbourIndex.open(graph, encoder) is None
    [record] = caplog.records
    assert record.getMessage().endswith(f"; run: kgraft link index {graph.folder}")
    assert "index of entities" in record.getMessage()
    assert "\n" not in record.getMessage()
    NeighbourIndex.build(vectors, static=kind == STATIC)
    assert NeighbourIndex.open(graph, encoder) is not None


def test_a_linker_without_a_usable_index_links_by_name(graph, model, vectors, caplog):
    NeighbourIndex.build(vectors)
    index_file(graph, model.entity_encoder, ENCODED).write_bytes(b"half")
    linker = Linker(graph, model)
    assert linker.knowledge.index is None
    assert [link.surface for link in linker("Texas", threshold=0)] == ["Texas"]


def test_graphs_have_their_own_indexes(encoder, tmp_path, own_cache):
    for name in ("one", "two"):
        graph = build(tmp_path / name, [], [{"id": name, "label": name}], None)
        NeighbourIndex.build(entity_text_vectors(graph, encoder))
    assert len(indexes(own_cache)) == 2


def test_models_of_one_encoder_share_the_index(graph, model, vectors, encoder_folder):
    NeighbourIndex.build(vectors)
    assert NeighbourIndex.open(graph, Encoder.load(encoder_folder)) is not None


def test_a_cache_that_cannot_be_written_is_done_without(graph, encoder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "file"))
    knowledge = Knowledge(graph, encoder)
    knowledge.build_index()
    entity, _ = knowledge.index.search(["any"], torch.ones(1, 48), 3)
    assert (entity >= 0).all()


@pytest.mark.parametrize("static", [False, True])
def test_what_is_removed_is_not_found(graph, vectors, static):
    index = NeighbourIndex.build(vectors, static=static)
    everyone = len(graph.entities)
    gone = graph.indices_of(["texas", "euro"])
    index.remove(gone)
    entity, _ = index.search(["Texas"], torch.ones(1, 48), everyone)
    assert not np.isin(gone, entity).any()
    added = np.array([everyone])
    size = 48 if not static else StaticEncoder.load().dimension
    index.add(added, torch.ones(1, size))
    entity, _ = index.search(["Texas"], torch.ones(1, 48), everyone)
    assert np.isin(added, entity).all() == (not static)
