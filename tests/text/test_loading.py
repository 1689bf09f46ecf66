import json
import logging
import socket

import huggingface_hub
import pytest
import torch
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel, T5Config, T5Model
from transformers.utils import logging as transformers_logging

from kgraft.errors import BadInput, NotFound
from kgraft.text import Encoder, find
from kgraft.text.loading import load_model, longest_input

TINY = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 40,
}


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def folder(tmp_path, tokenizers):
    """A tiny BERT as save_pretrained leaves it."""
    BertModel(BertConfig(vocab_size=30522, **TINY)).save_pretrained(tmp_path / "tiny")
    tokenizers["wordpiece"].save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


def edit_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_the_default_needs_no_network(no_network, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    named, unnamed = Encoder.load(find.DEFAULT), Encoder.load()
    assert named.name == unnamed.name == "sentence-transformers/all-MiniLM-L6-v2"
    assert (unnamed.max_length, unnamed.model.config.hidden_size) == (256, 384)
    assert not unnamed.model.training


def test_a_folder_is_loaded(folder, no_network):
    encoder = Encoder.load(folder, device="cpu")
    assert (encoder.name, encoder.dimension, encoder.max_length) == (str(folder), 8, 40)
    assert encoder.encode(["a cat"]).shape == (1, 8)


def test_a_sentence_encoders_own_length_is_kept(folder):
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24}')
    assert Encoder.load(folder).max_length == 24
    assert Encoder.load(folder, max_length=30).max_length == 30


@pytest.mark.parametrize("length", [0, 41])
def test_a_length_the_model_cannot_read_is_refused(folder, length):
    with pytest.raises(BadInput, match="give 1 to 40"):
        Encoder.load(folder, max_length=length)


def test_weights_are_read_as_float32(folder):
    BertModel(BertConfig(vocab_size=30522, **TINY)).half().save_pretrained(folder)
    assert {p.dtype for p in load_model(folder).parameters()} == {torch.float32}


def test_positions_that_stand_for_padding_do_not_count(tokenizers):
    model = RobertaModel(RobertaConfig(vocab_size=50, pad_token_id=1, **TINY))
    assert longest_input(model, tokenizers["bytes"]) == 38


def test_loading_is_silent_and_leaves_the_logging_as_it_was(folder, capfd):
    before = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    assert Encoder.load(folder).model.config.vocab_size == 30522
    after = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    assert (before, *capfd.readouterr()) == (after, "", "")
    assert before == (logging.WARNING, True)


def test_missing_weights_are_refused(folder):
    edit_config(folder, num_hidden_layers=2)
    with pytest.raises(BadInput, match=r"encoder\.layer\.1\."):
        Encoder.load(folder)


def test_a_pooler_may_be_missing(folder):
    BertModel(BertConfig(vocab_size=30522, **TINY), add_pooling_layer=False).save_pretrained(folder)
    assert load_model(folder).config.vocab_size == 30522


def damage_nothing_but_name(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def damage_weights(folder):
    (folder / "model.safetensors").write_bytes(b"junk")


def damage_config(folder):
    (folder / "config.json").write_text("{")


def damage_shape(folder):
    edit_config(folder, hidden_size=16)


def damage_tokenizer(folder):
    (folder / "tokenizer.json").write_text("[]")


def damage_rules(folder):
    """Tokenizers' own reader raises a bare Exception here."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "post_processor": {"type": "x"}}))


def ask_for_code(folder):
    edit_config(
        folder, model_type="own", auto_map={"AutoModel": "own.Model", "AutoConfig": "own.C"}
    )


@pytest.mark.parametrize(
    "damage",
    [
        damage_nothing_but_name,
        damage_weights,
        damage_config,
        damage_shape,
        damage_tokenizer,
        damage_rules,
        ask_for_code,
    ],
)
def test_a_damaged_folder_is_refused_in_one_line(folder, damage):
    damage(folder)
    with pytest.raises(BadInput) as error:
        Encoder.load(folder)
    assert str(error.value).startswith(f"{folder}: ")
    assert "\n" not in str(error.value)


def test_a_model_that_also_decodes_is_refused(tmp_path, tokenizers):
    config = T5Config(vocab_size=50, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    T5Model(config).save_pretrained(tmp_path)
    tokenizers["wordpiece"].save_pretrained(tmp_path)
    with pytest.raises(BadInput, match="t5"):
        Encoder.load(tmp_path)


def test_what_is_no_folder_and_no_name_is_not_found(tmp_path, no_network):
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file", str(tmp_path / "absent"), "two words", "a/b/c", ""):
        with pytest.raises(NotFound, match="no encoder at") as error:
            Encoder.load(place)
        assert "\n" not in str(error.value)


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def test_an_unknown_name_is_not_found_at_once(hub_cache, monkeypatch):
    def unreachable(*_, timeout):
        assert timeout <= 10
        raise OSError("no route\nto the hub")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", unreachable)
    with pytest.raises(NotFound, match=r"some/name: .*no route"):
        Encoder.load("some/name")


def test_a_cached_name_needs_no_network(folder, hub_cache, no_network):
    snapshot = hub_cache / "models--some--name" / "snapshots" / "0123abc"
    snapshot.parent.mkdir(parents=True)
    folder.rename(snapshot)
    (hub_cache / "models--some--name" / "refs").mkdir()
    (hub_cache / "models--some--name" / "refs" / "main").write_text("0123abc")
    assert Encoder.load("some/name", device="cpu").name == "some/name"
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(AssertionError, match="the network was asked"):
        Encoder.load("some/name")


def test_without_its_package_the_default_comes_from_the_hub_and_is_verified(folder, monkeypatch):
    monkeypatch.setattr(find, "packaged_folder", lambda: None)
    monkeypatch.setattr(find, "_hub_folder", {find.DEFAULT: folder}.__getitem__)
    with pytest.raises(BadInput, match=find.WEIGHTS):
        Encoder.load()
