"""A completer reads as its encoder does, and is read back as it was written."""

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput, NotFound
from kgraft.reason import TextCompleter
from kgraft.text import Encoder

TEXTS = ["a town", "Town 1 lies in: a much longer description of a town", "x"]


@pytest.fixture
def completer(host_folder):
    encoder = Encoder.load(host_folder, device="cpu", max_length=24)
    return TextCompleter(encoder, temperature=0.1)


def test_it_reads_with_gradients_as_the_encoder_without(completer):
    completer.module().eval()
    read = completer.read(TEXTS)
    assert read.requires_grad
    assert np.abs(read.detach().numpy() - completer.encoder.encode(TEXTS)).max() < 1e-5
    assert completer.temperature().item() == pytest.approx(10)


def test_saved_and_loaded(completer, tmp_path):
    with torch.no_grad():
        completer.temperature.log_scale.add_(0.5)
    completer.save_pretrained(tmp_path / "out")
    loaded = TextCompleter.from_pretrained(tmp_path / "out", device="cpu")
    assert loaded.config.tokens == 24
    assert torch.equal(loaded.temperature(), completer.temperature())
    expected = completer.encoder.encode(TEXTS)
    assert np.abs(loaded.encoder.encode(TEXTS) - expected).max() < 1e-5


def test_what_is_not_a_completer_is_refused(completer, tmp_path):
    with pytest.raises(NotFound):
        TextCompleter.from_pretrained(tmp_path)
    completer.save_pretrained(tmp_path / "out")
    (tmp_path / "out" / "temperature.safetensors").write_bytes(b"x")
    with pytest.raises(BadInput, match="temperature"):
        TextCompleter.from_pretrained(tmp_path / "out")
