"""Text vectors are what the encoder says, and are encoded once."""

from itertools import chain

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput
from kgraft.text import Encoder
from kgraft.vectors import TextVectors
from kgraft.vectors import text_vectors as module
from kgraft.vectors.entity_text import entity_texts


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def test_a_vector_is_that_of_the_entitys_text(towns, encoder, cache):
    vectors = TextVectors(towns, encoder, cache=cache)
    expected = encoder.encode(entity_texts(towns, np.array([3, 0, 3])).to_pylist())
    taken = vectors.take([[3, 0, 3, -1]])
    assert taken.shape == (1, 4, encoder.dimension)
    assert torch.allclose(taken[0, :3], torch.from_numpy(expected), atol=1e-5)
    assert not taken[0, 3].any()
    assert vectors.origin([0, -1]).tolist() == ["text", "none"]


def test_like_texts_are_near(towns, encoder, cache):
    cosine = dict(TextVectors(towns, encoder, cache=cache).nearest("paris"))
    assert cosine[towns["berlin"]] > cosine[towns["alone"]] + 0.2


def test_a_text_is_encoded_once(towns, encoder, encoded, cache):
    vectors = TextVectors(towns, encoder, cache=cache)
    first = vectors.take([0, 1, 0])
    assert [len(texts) for texts in encoded] == [2]
    assert torch.equal(vectors.take([1, 0]), first[[1, 0]])
    again = TextVectors(towns, encoder, cache=cache)
    assert torch.equal(again.take([0, 1, 0]), first)
    again.take([1, 2])
    assert [len(texts) for texts in encoded] == [2, 1]


def test_only_what_is_asked_for_is_encoded(towns, encoder, encoded, cache):
    TextVectors(towns, encoder, cache=cache).take([4])
    assert encoded == [["Rhine: river"]]


def test_an_entity_added_later_costs_one_encoding(tmp_path, towns, encoder, encoded, cache):
    TextVectors(towns, encoder, cache=cache).fill()
    grown = towns.extend(
        tmp_path / "grown",
        triples=[("lyon", "borders", "paris")],
        entities=[{"id": "lyon", "label": "Lyon"}, {"id": "rhine", "description": "a long river"}],
    )
    encoded.clear()
    vectors = TextVectors(grown, encoder, cache=cache)
    vectors.take(np.arange(len(grown.entities)))
    assert sorted(chain.from_iterable(encoded)) == ["Lyon", "Rhine: a long river"]


def test_equal_texts_are_encoded_once(tmp_path, build, encoder, encoded, cache):
    entities = [{"id": str(n), "label": "Springfield"} for n in range(5)]
    graph = build(tmp_path / "g", [("0", "r", "1")], entities)
    vectors = TextVectors(graph, encoder, cache=cache)
    assert len(torch.unique(vectors.all(), dim=0)) == 1
    assert encoded == [["Springfield"]]


def test_fill_encodes_all_and_tells_how_many(towns, encoder, encoded, cache):
    vectors = TextVectors(towns, encoder, cache=cache)
    vectors.take([0])
    assert vectors.fill() == 5
    assert vectors.fill() == 0
    encoded.clear()
    vectors.all()
    assert encoded == []


def test_fill_reports_its_progress(towns, encoder, cache, monkeypatch):
    class Report:
        def __init__(self):
            self.heard = []

        def start(self, what, total=None):
            self.heard.append((what, total))

        def advance(self, amount=1):
            self.heard.append(amount)

    monkeypatch.setattr(module, "TEXTS", 4)
    report = Report()
    TextVectors(towns, encoder, cache=cache).fill(progress=report)
    assert report.heard == [("encoding entities", 6), 4, 2]


def test_an_interrupted_fill_goes_on_where_it_stopped(towns, encoder, encoded, cache, monkeypatch):
    monkeypatch.setattr(module, "TEXTS", 2)
    with monkeypatch.context() as patch:
        encode = encoder.encode

        def interrupted(texts, **options):
            if len(encoded) == 2:
                raise KeyboardInterrupt
            return encode(texts, **options)

        patch.setattr(encoder, "encode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            TextVectors(towns, encoder, cache=cache).fill()
    assert sum(map(len, encoded)) == 4
    encoded.clear()
    assert TextVectors(towns, encoder, cache=cache).fill() == 2
    assert encoded == [entity_texts(towns, np.array([4, 5])).to_pylist()]


def test_a_damaged_cache_is_encoded_again(towns, encoder, encoded, cache):
    first = TextVectors(towns, encoder, cache=cache).all()
    (file,) = cache.glob("*/*.sqlite")
    file.write_bytes(file.read_bytes()[:-4] + b"spoi")
    encoded.clear()
    again = TextVectors(towns, encoder, cache=cache).all()
    assert sum(map(len, encoded)) == 6
    assert torch.allclose(again, first, atol=1e-5)


@pytest.mark.parametrize("where", [False, "file/below"])
def test_it_works_without_a_cache_on_disk(towns, encoder, encoded, tmp_path, where):
    (tmp_path / "file").write_text("no folder")
    vectors = TextVectors(towns, encoder, cache=where and tmp_path / where)
    assert torch.equal(vectors.take([0, 1]), vectors.take([0, 1]))
    assert len(encoded) == 1


def test_the_default_cache_is_the_users(towns, encoder, encoded, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "mine"))
    for _ in range(2):
        TextVectors(towns, encoder).take([0])
    assert len(encoded) == 1
    assert len(list((tmp_path / "mine" / "vectors").glob("*/vectors-1.sqlite"))) == 1


@pytest.mark.slow
def test_other_settings_do_not_share_vectors(towns, encoder, encoded, cache):
    mean = TextVectors(towns, encoder, cache=cache).take([0])
    first = TextVectors(towns, encoder, pooling="cls", cache=cache).take([0])
    shorter = Encoder(encoder.model, encoder.tokenizer, name=encoder.name, max_length=4)
    cut = TextVectors(towns, shorter, cache=cache).take([0])
    assert len(encoded) == 2
    assert not torch.allclose(mean, first, atol=1e-3)
    assert not torch.allclose(mean, cut, atol=1e-3)


@pytest.mark.slow
def test_other_weights_of_the_same_name_do_not_share_vectors(towns, encoder, encoded, cache):
    before = TextVectors(towns, encoder, cache=cache).take([0])
    bias = encoder.model.state_dict()["encoder.layer.5.output.LayerNorm.bias"]
    bias[0] += 3
    try:
        after = TextVectors(towns, encoder, cache=cache).take([0])
    finally:
        bias[0] -= 3
    assert len(encoded) == 2
    assert not torch.allclose(before, after, atol=1e-2)


@pytest.mark.slow
def test_the_name_of_a_cache_does_not_change_when_the_model_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    encoder = Encoder.load(device="cpu")
    before = {pooling: module.identity_of(encoder, pooling) for pooling in ("mean", "cls")}
    assert len(set(before.values())) == 2
    encoder.model.eval()
    assert {pooling: module.identity_of(encoder, pooling) for pooling in before} == before


def test_a_blank_text_says_nothing(tmp_path, build, encoder, encoded, cache):
    graph = build(tmp_path / "g", [("a", "r", "b")], [{"id": "a", "description": "x"}, {"id": "b"}])
    vectors = TextVectors(graph, encoder, fields=["description"], cache=cache)
    assert vectors.origin([0, 1]).tolist() == ["text", "none"]
    assert not vectors.take([1]).any()
    assert vectors.fill() == 1
    assert encoded == [["x"]]
    assert vectors.nearest(0) == []


def test_unknown_fields_are_refused(towns, encoder):
    with pytest.raises(BadInput, match="no field is named 'colour'"):
        TextVectors(towns, encoder, fields=["colour"], cache=False)
