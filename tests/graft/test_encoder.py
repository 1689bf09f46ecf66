"""A grafted encoder reads texts with knowledge, and can be saved and loaded again."""

import json

import numpy as np
import pytest
import torch
from tests.graft.conftest import SETTINGS, DrawnVectors

from kgraft.errors import BadInput, NotFound
from kgraft.graft import GraftedEncoder, GraphKnowledge, attach, knowledge_off
from kgraft.text import Encoder

TEXTS = ["Paris is in Texas.", "nothing is mentioned", "", "We went to New York City. " * 20]


def bare(host_folder):
    """The host without grafts, read by the library's model as the grafted one is."""
    encoder = Encoder.load(host_folder, device="cpu", max_length=64)
    encoder.model.eval()
    return encoder


@pytest.mark.slow
def test_texts_with_mentions_are_read_with_knowledge(encoder, host_folder):
    expected, found = bare(host_folder).encode(TEXTS), encoder.encode(TEXTS)
    assert np.array_equal(found[1:3], expected[1:3])
    assert not np.array_equal(found[0], expected[0])
    assert not np.array_equal(found[3], expected[3])
    with knowledge_off(encoder.model):
        assert np.array_equal(encoder.encode(TEXTS), expected)


def test_a_text_with_a_thousand_mentions_and_one_out_of_the_window(encoder, host_folder):
    many = "Paris " * 1000
    assert np.isfinite(encoder.encode([many, many], windowed=True)).all()
    late = "so " * 100 + "Paris"  # beyond the first window, which is all that is read
    assert np.array_equal(encoder.encode([late]), bare(host_folder).encode([late]))


@pytest.mark.slow
def test_a_graft_is_saved_apart_from_its_host_and_loaded(encoder, host_folder, knowledge, tmp_path):
    encoder.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["host"] == str(host_folder)
    host = sum(p.numel() for p in bare(host_folder).model.parameters())
    assert (tmp_path / "graft.safetensors").stat().st_size < host  # a quarter of its bytes
    again = GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})
    assert np.array_equal(again.encode(TEXTS[:2]), encoder.encode(TEXTS[:2]))


def test_the_models_own_save_writes_the_graft(encoder, tmp_path):
    encoder.model.save_pretrained(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"config.json", "graft.safetensors"}


@pytest.mark.slow
def test_what_training_changed_in_the_host_is_saved_with_the_graft(encoder, knowledge, tmp_path):
    with torch.no_grad():
        encoder.model.encoder.layer[0].output.dense.weight += 0.1
    encoder.save_pretrained(tmp_path)
    again = GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})
    assert np.array_equal(again.encode(TEXTS[:2]), encoder.encode(TEXTS[:2]))


@pytest.mark.slow
def test_a_graft_of_another_host_is_refused(encoder, knowledge, host_folder, tmp_path):
    encoder.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "host_digest": "another"}))
    with pytest.raises(BadInput, match=r"was made for other weights of .*; train anew"):
        GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})


@pytest.mark.slow
def test_other_knowledge_is_refused(encoder, graph, knowledge, tmp_path):
    encoder.save_pretrained(tmp_path)

    class Wider(DrawnVectors):
        dimension = 13

    wider = GraphKnowledge(graph, Wider(graph), name="tiny")
    with pytest.raises(BadInput, match="other knowledge after layer 2: size 12 → 13"):
        GraftedEncoder.from_pretrained(tmp_path, {2: wider})
    with pytest.raises(BadInput, match="no knowledge for layer 2; give that of tiny"):
        GraftedEncoder.from_pretrained(tmp_path, {1: knowledge})
    with pytest.raises(BadInput, match="how to make the knowledge of tiny is not told"):
        GraftedEncoder.from_pretrained(tmp_path)


def test_vectors_of_another_graph_are_refused(graph, tmp_path):
    from tests.link.tiny import ENTITIES, build

    other = build(tmp_path / "other", [], ENTITIES[:3], None)
    with pytest.raises(BadInput, match="vectors of different graphs"):
        GraphKnowledge(graph, DrawnVectors(other))


@pytest.mark.slow
@pytest.mark.parametrize("spoil", ["missing", "cut", "no json"])
def test_what_is_no_graft_is_refused_in_one_line(encoder, knowledge, tmp_path, spoil):
    encoder.save_pretrained(tmp_path)
    weights = tmp_path / "graft.safetensors"
    if spoil == "missing":
        (tmp_path / "config.json").unlink()
    elif spoil == "cut":
        weights.write_bytes(weights.read_bytes()[:-100])
    else:
        (tmp_path / "config.json").write_text("{")
    with pytest.raises((BadInput, NotFound)) as raised:
        GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})
    assert "\n" not in str(raised.value)


def test_two_kinds_of_knowledge(encoder, graph, host_folder):
    attach(encoder.model, {1: GraphKnowledge(graph, DrawnVectors(graph))}, settings={1: SETTINGS})
    assert encoder.grafts.layers == [1, 2]
    assert not np.array_equal(encoder.encode(TEXTS[:1]), bare(host_folder).encode(TEXTS[:1]))
