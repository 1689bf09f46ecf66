"""A plain BERT is read as the transformers library reads it; all else is left to that library."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.threads import results_of_threads
from transformers import BertConfig, BertForMaskedLM, BertModel, BertTokenizer

from kgraft.errors import BadInput
from kgraft.text import Encoder, adapt, adapter_state, load_adapters, packaged_folder
from kgraft.text.fast_bert import FastBert
from kgraft.text.loading import load_model, load_tokenizer, longest_input, read_length

SIZES = {
    "vocab_size": 30522,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 40,
}
TEXTS = ["The cat sat on the mat.", "", "Zürich 東京 😀", "word " * 60, "[MASK] of [SEP]"]
LAYERS = ["attention.self.query", "attention.self.key", "attention.self.value"]
LAYERS += ["attention.output.dense", "intermediate.dense", "output.dense"]


def write_model(folder, kind=BertModel, **options):
    torch.manual_seed(3)
    kind(BertConfig(**SIZES | options, initializer_range=0.4)).save_pretrained(folder)


@pytest.fixture
def folder(tmp_path, tokenizers, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    write_model(tmp_path / "tiny")
    tokenizers["wordpiece"].save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


def edit(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def slow(folder):
    """The encoder as the transformers library loads it."""
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    length = read_length(folder, longest_input(model, tokenizer))
    return Encoder(model, tokenizer, name="slow", max_length=length)


def read_fast(folder):
    return FastBert.read(folder, torch.device("cpu"))


def assert_alike(one, other):
    assert (one.dimension, one.max_length) == (other.dimension, other.max_length)
    assert one._tokenise.pad == other._tokenise.pad
    np.testing.assert_allclose(one.encode(TEXTS), other.encode(TEXTS), atol=1e-5)


def changes_for(layers=2, rank=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = {"intermediate.dense": (12, 8), "output.dense": (8, 12)}
    changes = {}
    for name in (f"encoder.layer.{n}.{part}" for n in range(layers) for part in LAYERS):
        rows, columns = shapes.get(name.split(".", 3)[3], (8, 8))
        changes[f"{name}.up"] = torch.randn(rows, rank, generator=generator)
        changes[f"{name}.down"] = torch.randn(rank, columns, generator=generator)
    return changes


@pytest.mark.slow
def test_it_reads_as_the_library(folder):
    encoder = Encoder.load(folder, device="cpu")
    assert_alike(encoder, slow(folder))
    assert encoder._model is None
    assert torch.equal(encoder.words, slow(folder).words)


def test_it_reads_through_the_model_once_that_is_asked_for(folder):
    encoder = Encoder.load(folder, device="cpu")
    vectors = encoder.encode(TEXTS)
    assert encoder.tokenizer.mask_token == "[MASK]"
    assert encoder._model is None
    assert isinstance(encoder.model, BertModel)
    assert encoder.model is encoder.model
    assert not encoder.model.training
    np.testing.assert_allclose(encoder.encode(TEXTS), vectors, atol=1e-5)
    assert encoder.words is encoder.model.get_input_embeddings().weight
    with torch.no_grad():
        encoder.model.embeddings.LayerNorm.bias += 1
    assert not np.allclose(encoder.encode(TEXTS), vectors, atol=1e-2)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (4, 16)])
@pytest.mark.parametrize("padded", [False, True])
@torch.no_grad()
def test_the_forward_pass_is_the_library_s(folder, shape, padded):
    ids = torch.randint(30522, shape, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(shape, dtype=torch.bool)
    if padded:
        mask[1:, shape[1] // 2 + 1 :] = False
    expected = load_model(folder)(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    hidden = read_fast(folder).bert(ids, mask)
    assert not hidden.requires_grad
    torch.testing.assert_close(hidden[mask], expected[mask], rtol=1e-4, atol=1e-5)


NO_TRANSFORMERS = """
import sys, torch
from kgraft.text import Encoder
from kgraft.vectors.text_vectors import identity_of
encoder = Encoder.load(sys.argv[1], device="cpu")
query = "encoder.layer.0.attention.self.query"
changes = {f"{query}.up": torch.ones(8, 1), f"{query}.down": torch.ones(1, 8)}
adapted = encoder.adapted(changes)
for one in (encoder, adapted):
    one.encode(["a text"]), one.windows(["a text"]), identity_of(one, "mean"), one.words
sys.exit("transformers" in sys.modules)
"""


@pytest.mark.slow
def test_it_needs_no_transformers(folder):
    command = [sys.executable, "-c", NO_TRANSFORMERS, str(folder)]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("change", [{}, {"do_lower_case": False}, {"strip_accents": False}])
def test_a_tokenizer_is_what_its_settings_say(folder, change):
    """The library obeys tokenizer_config.json where tokenizer.json says something else."""
    edit(folder / "tokenizer_config.json", **change)
    assert (read_fast(folder) is None) == bool(change)
    assert_alike(Encoder.load(folder, device="cpu"), slow(folder))


def test_a_cased_tokenizer_is_read(folder, tokenizers):
    cased = BertTokenizer(vocab=tokenizers["wordpiece"].get_vocab(), do_lower_case=False)
    cased.save_pretrained(folder)
    assert read_fast(folder) is not None
    assert_alike(Encoder.load(folder, device="cpu"), slow(folder))


@pytest.mark.parametrize("absent", ["tokenizer_config.json", "tokenizer.json"])
def test_a_file_of_the_tokenizer_may_be_absent(folder, tokenizers, absent):
    tokenizers["wordpiece"].backend_tokenizer.model.save(str(folder))  # vocab.txt
    (folder / absent).unlink()
    assert_alike(Encoder.load(folder, device="cpu"), slow(folder))


def test_an_added_token_counts(folder, tokenizers):
    tokenizer = BertTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["mat."])
    tokenizer.save_pretrained(folder)
    write_model(folder, vocab_size=30523)
    assert_alike(Encoder.load(folder, device="cpu"), slow(folder))


def test_the_encoder_under_a_head_is_read(folder):
    write_model(folder, BertForMaskedLM)
    assert read_fast(folder) is not None
    assert_alike(Encoder.load(folder, device="cpu"), slow(folder))


def test_half_precision_is_read_as_float32(folder):
    file = folder / "model.safetensors"
    halves = {name: tensor.half() for name, tensor in load_file(file).items()}
    save_file(halves, file, {"format": "pt"})
    assert read_fast(folder).bert.tensors["embeddings.LayerNorm.bias"].dtype == torch.float32
    assert_alike(Encoder.load(folder, device="cpu"), slow(folder))


@pytest.mark.parametrize(
    "options",
    [{"hidden_act": "relu"}, {"is_decoder": True}, {"model_type": "roberta"}, {"auto_map": {}}],
)
def test_what_is_not_plain_is_left_to_the_library(folder, options):
    edit(folder / "config.json", **options)
    assert read_fast(folder) is None


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("tokenizer.json", b"[]"),
        ("tokenizer.json", b"\xff"),
        ("tokenizer_config.json", b"{"),
        ("model.safetensors", b"junk"),
        ("model.safetensors", None),
        ("model.safetensors", "half"),
    ],
)
def test_damage_is_refused_in_one_line(folder, file, content):
    path = folder / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-100] if content == "half" else content)
    assert read_fast(folder) is None
    with pytest.raises(BadInput) as error:
        Encoder.load(folder)
    assert str(error.value).startswith(f"{folder}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "sizes", [{"hidden_size": 16}, {"num_hidden_layers": 3}, {"vocab_size": 5}, {"hidden_size": -8}]
)
def test_weights_of_other_sizes_are_refused(folder, sizes):
    edit(folder / "config.json", **sizes)
    with pytest.raises(BadInput, match=str(folder)):
        Encoder.load(folder)


@pytest.mark.slow
@pytest.mark.parametrize("through_model", [False, True])
def test_threads_read_as_one_does(through_model):
    encoder = Encoder.load(device="cpu")
    texts = [f"text number {n} of many " * (n % 7 + 1) for n in range(24)]
    if through_model:
        encoder.model.train()  # the first to encode ends that
    expected = Encoder.load(device="cpu").encode(texts)
    for results in results_of_threads(lambda _: [encoder.encode(texts) for _ in range(3)]):
        for vectors in results:
            np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert (encoder._model is not None) == through_model


def test_threads_that_ask_for_the_model_get_the_same_one(folder):
    encoder = Encoder.load(folder, device="cpu")

    def work(_):
        encoder.encode(TEXTS)
        model = encoder.model
        encoder.encode(TEXTS)
        return model

    assert [model is encoder.model for model in results_of_threads(work)] == [True] * 8


# Changes of low rank


def adapted_by_the_library(folder, *states):
    encoder = slow(folder)
    for state in states:
        with torch.no_grad():
            for name in {name.rpartition(".")[0] for name in state}:
                layer = encoder.model.get_submodule(name)
                layer.weight += state[f"{name}.up"] @ state[f"{name}.down"]
    return encoder


@pytest.mark.parametrize("through_model", [False, True])
def test_changes_are_merged(folder, through_model):
    encoder, changes = Encoder.load(folder, device="cpu"), changes_for()
    assert changes.keys() == trained_changes(folder).keys()
    before = encoder.encode(TEXTS)
    if through_model:
        encoder.model.eval()
    adapted = encoder.adapted(changes)
    assert_alike(adapted, adapted_by_the_library(folder, changes))
    np.testing.assert_allclose(encoder.encode(TEXTS), before, atol=1e-5)
    assert not np.allclose(adapted.encode(TEXTS), before, atol=1e-2)
    more = changes_for(1, seed=1)
    assert_alike(adapted.adapted(more), adapted_by_the_library(folder, changes, more))


def trained_changes(folder):
    model = load_model(folder)
    adapt(model, 3)
    load_adapters(model, changes_for())
    return adapter_state(model)


def test_the_model_of_an_adapted_encoder_has_the_changes(folder):
    changes = changes_for()
    adapted = Encoder.load(folder, device="cpu").adapted(changes)
    expected = adapted.encode(TEXTS)
    for tensor in changes.values():
        tensor.zero_()  # what was merged stays merged
    assert isinstance(adapted.model, BertModel)
    np.testing.assert_allclose(adapted.encode(TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize("through_model", [False, True])
def test_changes_of_another_encoder_are_refused(folder, through_model):
    encoder = Encoder.load(folder, device="cpu")
    if through_model:
        encoder.model.eval()
    lacking = changes_for()
    del lacking["encoder.layer.0.output.dense.down"]
    with pytest.raises(BadInput, match=r"layer\.0\.output\.dense\.down"):
        encoder.adapted(lacking)
    with pytest.raises(BadInput, match=r"encoder\.layer\.2\."):
        encoder.adapted(changes_for(layers=3))
    wide = {name: torch.zeros(9, 3) if name.endswith("up") else t for name, t in lacking.items()}
    wide["encoder.layer.0.output.dense.down"] = torch.zeros(3, 12)
    with pytest.raises(BadInput, match=r"encoder\.layer\.0\."):
        encoder.adapted(wide)


# Identity


def test_the_identity_is_that_of_the_files(folder, tmp_path):
    encoder = Encoder.load(folder, device="cpu")
    assert encoder.identity == Encoder.load(folder, device="cpu").identity
    copied = folder.rename(tmp_path / "elsewhere")
    assert Encoder.load(copied, device="cpu").identity == encoder_identity(copied)
    assert len(encoder_identity(copied)) == 32


def encoder_identity(folder, **options):
    return Encoder.load(folder, device="cpu", **options).identity


@pytest.mark.slow
def test_another_encoder_has_another_identity(folder, tokenizers):
    identities = {encoder_identity(folder), encoder_identity(folder, max_length=30)}
    edit(folder / "config.json", layer_norm_eps=1e-3)
    identities.add(encoder_identity(folder))
    edit(folder / "tokenizer.json", truncation=None)
    identities.add(encoder_identity(folder))
    BertModel(BertConfig(**SIZES)).save_pretrained(folder)
    identities.add(encoder_identity(folder))
    encoder = Encoder.load(folder, device="cpu")
    identities |= {encoder.adapted(changes_for(seed=seed)).identity for seed in (0, 1)}
    assert len(identities) == 7


def test_a_model_that_is_only_looked_at_keeps_its_identity(folder):
    for encoder in (
        Encoder.load(folder, device="cpu"),
        Encoder.load(folder, device="cpu").adapted(changes_for()),
    ):
        before = encoder.identity
        bias = encoder.model.state_dict()["encoder.layer.1.output.LayerNorm.bias"]
        assert encoder.identity == before
        bias[0] += 1
        assert encoder.identity != before
        bias[0] -= 1
        with torch.no_grad():
            encoder.model.embeddings.LayerNorm.weight.data *= 2
        assert encoder.identity != before


def test_an_encoder_outlives_its_files_but_its_model_does_not(folder, tmp_path):
    encoder = Encoder.load(folder, device="cpu")
    before, identity = encoder.encode(TEXTS), encoder.identity
    (tmp_path / "tiny").rename(tmp_path / "old")
    write_model(folder, hidden_size=16)
    assert np.array_equal(encoder.encode(TEXTS), before)
    assert encoder.identity != identity  # of its tensors: the files are no longer there to name it
    with pytest.raises(BadInput, match="changed since"):
        _ = encoder.model


def test_the_identity_is_not_hashed_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    expected = Encoder.load(device="cpu").identity
    monkeypatch.setattr("kgraft.text.digests.sha256", None)
    monkeypatch.setattr("kgraft.text.source.tensor_digest", None)
    monkeypatch.setattr("kgraft.text.fast_bert.tensor_digest", None)
    assert Encoder.load(packaged_folder(), device="cpu").identity == expected


def test_an_encoder_that_is_not_fast_has_the_identity_of_its_files(folder, monkeypatch):
    edit(folder / "config.json", hidden_act="relu")
    monkeypatch.setattr("kgraft.text.source.tensor_digest", None)
    first = Encoder.load(folder, device="cpu")
    assert first.identity == Encoder.load(folder, device="cpu").identity
    assert not first._is_shared
