"""A grafted encoder reads texts with knowledge, and can be saved and loaded again."""

import json

import numpy as np
import pytest
import torch
from tests.graft.conftest import SETTINGS, DrawnVectors
from tests.threads import results_of_threads

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
    manifest = json.loads((tmp_path / "kgraft.json").read_text())
    assert manifest["kind"] == "graft"
    assert manifest["config"]["host"] == str(host_folder)
    host = sum(p.numel() for p in bare(host_folder).model.parameters())
    assert (tmp_path / "graft.safetensors").stat().st_size < host  # a quarter of its bytes
    again = GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})
    assert np.array_equal(again.encode(TEXTS[:2]), encoder.encode(TEXTS[:2]))


def test_the_models_own_save_writes_the_graft(encoder, tmp_path):
    encoder.model.save_pretrained(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"kgraft.json", "graft.safetensors"}


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
    manifest = json.loads((tmp_path / "kgraft.json").read_text())
    manifest["config"]["host_digest"] = "another"
    (tmp_path / "kgraft.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="other weights"):
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
    with pytest.raises(BadInput, match="how the knowledge of tiny was made"):
        GraftedEncoder.from_pretrained(tmp_path)


def test_vectors_of_another_graph_are_refused(graph, tmp_path):
    from tests.graph.tiny import ENTITIES, build

    other = build(tmp_path / "other", [], ENTITIES[:3], None)
    with pytest.raises(BadInput, match="vectors of different graphs"):
        GraphKnowledge(graph, DrawnVectors(other))


@pytest.mark.parametrize("spoil", ["missing", "cut", "no json", "other tensors"])
def test_what_is_no_graft_is_refused_in_one_line(encoder, knowledge, tmp_path, spoil):
    encoder.save_pretrained(tmp_path)
    weights = tmp_path / "graft.safetensors"
    if spoil == "missing":
        (tmp_path / "kgraft.json").unlink()
    elif spoil == "cut":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif spoil == "no json":
        (tmp_path / "kgraft.json").write_text("{")
    else:
        del encoder.model.grafts["2"].mix
        encoder.save_pretrained(tmp_path)
    with pytest.raises((BadInput, NotFound)) as raised:
        GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})
    assert "\n" not in str(raised.value)


def test_a_folder_of_format_1_is_told(encoder, knowledge, tmp_path):
    encoder.save_pretrained(tmp_path)
    (tmp_path / "kgraft.json").rename(tmp_path / "config.json")
    with pytest.raises(BadInput, match=r"format 1.*kgraft graft train"):
        GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})


def test_two_kinds_of_knowledge(encoder, graph, host_folder):
    attach(encoder.model, {1: GraphKnowledge(graph, DrawnVectors(graph))}, settings={1: SETTINGS})
    assert encoder.grafts.layers == [1, 2]
    assert not np.array_equal(encoder.encode(TEXTS[:1]), bare(host_folder).encode(TEXTS[:1]))


def test_threads_read_with_their_own_mentions(encoder):
    texts = [f"{name} is in Texas. " * (n + 1) for n, name in enumerate(["Paris", "Rome"] * 4)]
    expected = [encoder.encode([text]) for text in texts]
    encoder.model.train()  # the first to encode ends that

    def work(index):
        on = [encoder.encode([texts[index]]) for _ in range(5)]
        with knowledge_off(encoder.model):
            return on, encoder.encode([texts[index]])

    for (on, off), vector in zip(results_of_threads(work), expected, strict=True):
        assert all(np.array_equal(other, vector) for other in on)
        assert not np.array_equal(off, vector)


def test_a_grafted_encoder_overrides_nothing_of_how_an_encoder_reads():
    assert not vars(GraftedEncoder).keys() & {"windows", "encode", "encode_tokens", "read"}
