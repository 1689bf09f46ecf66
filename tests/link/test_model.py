"""The link model: what it reads, what training changes, and its way to disk and back."""

import json

import numpy as np
import pytest
import torch
from tests.link.tiny import disturbed, link_model

from kgraft.errors import BadInput, KgraftError, NotFound
from kgraft.link.features import FEATURES
from kgraft.link.model import (
    HEAD_FEATURES,
    WEIGHTS,
    LinkConfig,
    LinkModel,
)
from kgraft.storage import MODEL_MANIFEST

TEXTS = ["Paris is in Texas.", "who rules 東京?", ""]


@pytest.fixture(scope="module")
def trained(encoder_folder):
    """A model whose every part is changed."""
    model = link_model(encoder_folder, threshold=0.45, longest=7)
    draw = torch.Generator().manual_seed(8)
    for parameter in model.parameters():
        parameter.data.add_(torch.randn(parameter.shape, generator=draw) * 0.05)
    return disturbed(model)


@pytest.fixture(scope="module")
def folder(trained, tmp_path_factory):
    trained.save_pretrained(folder := tmp_path_factory.mktemp("model") / "deep" / "model")
    return folder


def read(model):
    windows = model.encoder.windows(TEXTS)
    return model.read(*windows.padded(np.arange(len(TEXTS))))


def same_output(one, other, **tolerance):
    for expected, output in zip(one, other, strict=True):
        torch.testing.assert_close(output, expected, **tolerance)


# Reading


def test_a_model_begins_with_the_vectors_of_its_encoder(model):
    windows = model.encoder.windows(TEXTS)
    [batch] = model.encoder.encode_tokens(windows)
    ids, mask = windows.padded(batch.windows)
    torch.testing.assert_close(model.read(ids, mask).vectors, batch.vectors * 3)


def test_the_output_is_linear_in_what_the_encoder_sees(trained):
    windows = trained.encoder.windows(TEXTS)
    ids, mask = map(torch.from_numpy, windows.padded(np.arange(len(TEXTS))))
    hidden = trained.encoder.read(ids, mask)
    output = trained(ids, mask)
    torch.testing.assert_close(output.marks, hidden @ trained.mark.weight.T + trained.mark.bias)
    projected = hidden @ trained.project.weight.T + trained.project.bias
    torch.testing.assert_close(output.vectors, projected)


def test_the_entity_encoder_is_the_one_without_changes(model, trained):
    assert model.entity_encoder.identity == trained.entity_encoder.identity
    assert trained.encoder.identity != trained.entity_encoder.identity


def test_the_seed_decides_how_a_model_begins(encoder_folder):
    states = [link_model(encoder_folder, seed=seed).small_state() for seed in (1, 1, 2)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not torch.equal(states[0]["head.hidden.weight"], states[2]["head.hidden.weight"])


# Training


def test_only_heads_and_small_changes_are_trained(encoder_folder):
    model = link_model(encoder_folder).prepare_training()
    names = {name for name, p in model.named_parameters() if p.requires_grad}
    of_host = {name for name in names if name.startswith("host.")}
    assert of_host
    assert of_host == {name for name in names if name.endswith((".up", ".down"))}
    assert {name.partition(".")[0] for name in names} == {"host", "mark", "project", "head"}


def test_a_prepared_model_reads_as_the_one_for_use(trained, folder):
    prepared = LinkModel.from_pretrained(folder).prepare_training().eval()
    same_output(read(trained), read(prepared), atol=1e-5, rtol=1e-4)


def test_a_state_put_back_gives_the_same_model(trained, encoder_folder):
    state = {name: tensor.clone() for name, tensor in trained.small_state().items()}
    other = link_model(encoder_folder, seed=9)
    other.load_small_state(state)
    same_output(read(trained), read(other))
    assert other.digest() == trained.digest()
    prepared = link_model(encoder_folder, seed=9).prepare_training()
    prepared.load_small_state(state)
    assert prepared.digest() == trained.digest()


def test_a_digest_names_the_weights_and_the_encoder(trained, model, narrow, encoder_folder):
    assert link_model(encoder_folder).digest() == model.digest()
    other = link_model(encoder_folder)
    other.mark.bias.data[0] += 1e-3
    assert len({model.digest(), other.digest(), trained.digest(), narrow.digest()}) == 4


# To disk and back


def test_a_model_comes_back_with_equal_outputs(trained, folder):
    loaded = LinkModel.from_pretrained(folder)
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    assert loaded.config == trained.config
    assert (loaded.config.threshold, loaded.longest) == (0.45, 7)
    same_output(read(trained), read(loaded), atol=0, rtol=0)
    features = torch.randn(4, len(HEAD_FEATURES), generator=torch.Generator().manual_seed(1))
    assert torch.equal(loaded.head(features), trained.head(features))


def test_what_is_written_is_small_and_has_no_encoder(trained, folder, encoder_folder):
    small = sum(tensor.nbytes for tensor in trained.small_state().values())
    assert {path.name for path in folder.iterdir()} == {MODEL_MANIFEST, WEIGHTS}
    assert (folder / WEIGHTS).stat().st_size < small + 8192
    assert small < (encoder_folder / "model.safetensors").stat().st_size / 20
    config = json.loads((folder / MODEL_MANIFEST).read_text())
    assert (config["kind"], config["format"]) == ("link model", LinkModel.format)
    assert config["config"]["encoder"] == str(encoder_folder)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(NotFound, match="nowhere"):
        LinkModel.from_pretrained(tmp_path / "nowhere")


@pytest.fixture
def damaged(folder, tmp_path):
    """Copy the model with one file changed: `damaged(name, content)`, None removes it."""

    def damaged(name, content):
        (tmp_path / "model").mkdir()
        for path in folder.iterdir():
            (tmp_path / "model" / path.name).write_bytes(path.read_bytes())
        (tmp_path / "model" / name).unlink()
        if content is not None:
            (tmp_path / "model" / name).write_bytes(content)
        return tmp_path / "model"

    return damaged


def manifest_of(folder, **config):
    manifest = json.loads((folder / MODEL_MANIFEST).read_text())
    return json.dumps({**manifest, "config": {**manifest["config"], **config}}).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [(WEIGHTS, None), (WEIGHTS, b"half"), (MODEL_MANIFEST, b"{"), (MODEL_MANIFEST, b"{}")],
)
def test_a_damaged_file_is_one_clear_line(damaged, name, content):
    folder = damaged(name, content)
    with pytest.raises(BadInput) as error:
        LinkModel.from_pretrained(folder)
    assert error.value.file == str(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"features": list(FEATURES)}, "features"),
        ({"width": "wide"}, "width is 'wide'"),
        ({"longest": 0}, "longest is 0"),
        ({"threshold": None}, "threshold is None"),
        ({"encoder": 7}, "encoder is 7"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(damaged, folder, changes, reason):
    with pytest.raises(BadInput, match=reason):
        LinkModel.from_pretrained(damaged(MODEL_MANIFEST, manifest_of(folder, **changes)))


def test_a_foreign_folder_is_refused(encoder_folder):
    with pytest.raises(NotFound):
        LinkModel.from_pretrained(encoder_folder)


def test_a_model_whose_encoder_is_gone_says_so(damaged, folder, tmp_path):
    gone = damaged(MODEL_MANIFEST, manifest_of(folder, encoder=str(tmp_path / "gone")))
    with pytest.raises(NotFound, match=r"no encoder at .*gone"):
        LinkModel.from_pretrained(gone)


def test_weights_of_another_width_are_refused(damaged, folder):
    other = damaged(MODEL_MANIFEST, manifest_of(folder, width=20))
    with pytest.raises(BadInput, match=r"head\.hidden\.weight"):
        LinkModel.from_pretrained(other)


def test_changes_of_another_rank_cannot_be_trained_further(damaged, folder):
    other = damaged(MODEL_MANIFEST, manifest_of(folder, rank=3))
    with pytest.raises(KgraftError, match="do not fit the encoder"):
        LinkModel.from_pretrained(other).prepare_training()


def test_a_config_has_the_features_that_its_head_weighs():
    assert LinkConfig().features == HEAD_FEATURES
    assert len(set(HEAD_FEATURES)) == len(HEAD_FEATURES)
