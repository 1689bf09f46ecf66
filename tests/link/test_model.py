"""The link model: its formulas, and its way to disk and back."""

import json

import numpy as np
import pytest
import torch
from tests.link.tiny import disturbed, link_model
from torch.nn.functional import normalize

from kgraft.errors import BadInput, KgraftError, NotFound
from kgraft.link.model import FEATURES, SCORES, WEIGHTS, LinkConfig, LinkModel, pair_scores

TEXTS = ["Paris is in Texas.", "who rules 東京?", ""]


@pytest.fixture(scope="module")
def trained(encoder_folder):
    """A model whose every part is changed."""
    model = disturbed(link_model(encoder_folder, hidden=16, threshold=0.35))
    draw = torch.Generator().manual_seed(8)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.add_(torch.randn(parameter.shape, generator=draw) * 0.05)
    return model


@pytest.fixture(scope="module")
def folder(trained, tmp_path_factory):
    trained.save_pretrained(folder := tmp_path_factory.mktemp("model") / "deep" / "model")
    return folder


def read(model):
    windows = model.encoder.windows(TEXTS)
    return model.read(*windows.padded(np.arange(len(TEXTS))))


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_a_model_comes_back_with_equal_outputs(trained, folder):
    loaded = LinkModel.from_pretrained(folder)
    assert not loaded.training
    assert loaded.config.threshold == 0.35
    assert loaded.longest == trained.longest == 10
    for found, expected in zip(read(loaded), read(trained), strict=True):
        assert torch.equal(found, expected)
    m, e, s = drawn(4, 48), drawn(4, 48, seed=1), drawn(4, SCORES, seed=2)
    assert torch.equal(loaded.link_logits(m, e, s), trained.link_logits(m, e, s))


def test_what_is_written_is_small_and_holds_no_encoder(trained, folder, encoder_folder):
    small = sum(tensor.nbytes for tensor in trained.small_state().values())
    assert {path.name for path in folder.iterdir()} == {"config.json", WEIGHTS}
    assert (folder / WEIGHTS).stat().st_size < small + 8192
    assert small < (encoder_folder / "model.safetensors").stat().st_size / 20
    assert json.loads((folder / "config.json").read_text())["encoder"] == str(encoder_folder)


def test_merging_keeps_the_outputs(trained, folder):
    merged = LinkModel.from_pretrained(folder).merge()
    for found, expected in zip(read(merged), read(trained), strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    assert not any(parameter.requires_grad for parameter in merged.parameters())


def test_a_model_begins_with_the_vectors_of_its_encoder(model):
    windows = model.encoder.windows(TEXTS)
    [batch] = model.encoder.encode_tokens(windows)
    ids, mask = windows.padded(batch.windows)
    torch.testing.assert_close(model.read(ids, mask).vectors, batch.vectors * 3)


def test_only_heads_and_small_changes_are_trained(encoder_folder):
    model = link_model(encoder_folder)
    trained = {name for name, p in model.named_parameters() if p.requires_grad}
    assert {name for name in trained if name.startswith("host.")} == {
        name for name in trained if name.endswith((".up", ".down"))
    }
    assert {name.partition(".")[0] for name in trained} == {
        "host", "mark", "project", "weigh", "judge", "verdict",
    }  # fmt: skip
    assert all(p.is_contiguous() for p in model.small_state().values())


def test_the_entity_encoder_is_the_one_without_changes(model, trained):
    assert model.entity_encoder == trained.entity_encoder


def test_candidates_are_weighed_by_the_formula(trained):
    """a(e) = x_e · y + w · f(e)."""
    y, x, f = drawn(3, 48), drawn(3, 4, 48, seed=1), drawn(3, 4, len(FEATURES), seed=2)
    logits = trained.candidate_logits(y, x, f)
    for s in range(3):
        for k in range(4):
            expected = x[s, k] @ y[s] + trained.weigh.weight[0] @ f[s, k]
            assert logits[s, k].item() == pytest.approx(expected.item(), abs=1e-4)


def test_links_are_judged_by_a_network_on_both_vectors_and_the_scores(trained):
    m, e, scores = drawn(3, 48), normalize(drawn(3, 48, seed=1), dim=1), drawn(3, SCORES, seed=2)
    logits = trained.link_logits(m, e, scores)
    for p in range(3):
        unit = m[p] / m[p].norm()
        joint = torch.cat([unit, e[p], unit - e[p], 8 * unit * e[p], scores[p]])
        hidden = trained.judge.weight @ joint + trained.judge.bias
        hidden = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5))
        expected = trained.verdict.weight[0] @ hidden + trained.verdict.bias[0]
        assert logits[p].item() == pytest.approx(expected.item(), abs=1e-5)


def test_pair_scores_are_what_they_say():
    span, y, x = drawn(2), drawn(2, 6, seed=1), normalize(drawn(2, 3, 6, seed=2), dim=-1)
    f, logits = drawn(2, 3, len(FEATURES), seed=3), drawn(2, 3, seed=4)
    scores = pair_scores(span, y, x, f, logits)
    assert scores.shape == (2, 3, SCORES)
    for s in range(2):
        p = logits[s].exp() / logits[s].exp().sum()
        for k in range(3):
            dot = x[s, k] @ y[s]
            expected = [
                span[s] / 5,
                dot / 10,
                3 * dot / y[s].norm(),
                p[k].log() / 3,
                -(p * p.log()).sum(),
                *f[s, k],
            ]
            assert scores[s, k].tolist() == pytest.approx([float(x) for x in expected], abs=1e-5)


def test_a_folder_without_a_model_is_told_of(tmp_path):
    with pytest.raises(NotFound) as error:
        LinkModel.from_pretrained(tmp_path / "nowhere")
    assert str(error.value) == (
        f"no link model at {tmp_path / 'nowhere'}; give the folder that 'kgraft link train' wrote"
    )


def broken(folder, tmp_path, name, content):
    (tmp_path / "model").mkdir()
    for path in folder.iterdir():
        (tmp_path / "model" / path.name).write_bytes(path.read_bytes())
    if content is None:
        (tmp_path / "model" / name).unlink()
    else:
        (tmp_path / "model" / name).write_bytes(content)
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (WEIGHTS, None),
        (WEIGHTS, b"half"),
        (WEIGHTS, b"\x10" + bytes(40)),
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("config.json", b"{}"),
        ("config.json", b'{"model_type": "kgraft_link", "hidden": "wide"}'),
        ("config.json", b"\xff\xfe"),
    ],
)
def test_a_damaged_folder_is_one_clear_line(folder, tmp_path, name, content):
    damaged = broken(folder, tmp_path, name, content)
    with pytest.raises(BadInput, match=r"is no link model \(.+\)$") as error:
        LinkModel.from_pretrained(damaged)
    assert error.value.file == str(damaged)
    assert "\n" not in str(error.value)


def test_a_foreign_folder_is_one_clear_line(encoder_folder):
    with pytest.raises(BadInput, match=r"is no link model \(.*bert") as error:
        LinkModel.from_pretrained(encoder_folder)
    assert "\n" not in str(error.value)


def test_a_model_whose_encoder_is_gone_says_so(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text())
    config["encoder"] = str(tmp_path / "gone")
    damaged = broken(folder, tmp_path, "config.json", json.dumps(config).encode())
    with pytest.raises(NotFound, match=r"no encoder at .*gone"):
        LinkModel.from_pretrained(damaged)


def test_weights_of_another_width_are_refused(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text()) | {"hidden": 20}
    damaged = broken(folder, tmp_path, "config.json", json.dumps(config).encode())
    with pytest.raises(BadInput, match=r"lacks a fitting judge.weight; train it anew"):
        LinkModel.from_pretrained(damaged)


def test_changes_of_another_rank_are_refused(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text()) | {"rank": 3}
    damaged = broken(folder, tmp_path, "config.json", json.dumps(config).encode())
    with pytest.raises(KgraftError, match="do not fit the encoder"):
        LinkModel.from_pretrained(damaged)


def test_a_config_keeps_what_it_is_given():
    config = LinkConfig(encoder="some/encoder", rank=3, longest=5, hidden=7, threshold=0.4)
    again = LinkConfig.from_dict(config.to_dict())
    assert (again.encoder, again.rank, again.longest, again.hidden) == ("some/encoder", 3, 5, 7)
    assert again.threshold == 0.4
