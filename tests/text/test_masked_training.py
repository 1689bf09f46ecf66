"""The head learns to read an encoder that stays as it is."""

from dataclasses import replace

import pytest
import torch

from kgraft.text import Encoder
from kgraft.text.masked import HEAD, MaskedHead
from kgraft.text.masked_training import MaskedSettings, train_masked
from kgraft.vectors.tensors import write_tensors

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog"] * 8
SETTINGS = MaskedSettings(epochs=3, head_rate=5e-3, batch_tokens=64)


def run(encoder, folder, *, stop=None, settings=SETTINGS):
    torch.manual_seed(0)
    head = MaskedHead.of(encoder)
    windows = encoder.windows(TEXTS)
    epochs = []
    for epoch in train_masked(encoder, head, windows, folder, valid=windows, settings=settings):
        epochs.append(epoch)
        if epoch.number == stop:
            break
    return head, epochs


@pytest.mark.slow
def test_it_learns_and_the_encoder_does_not(encoder, tmp_path):
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    _, epochs = run(encoder, tmp_path / "run")
    assert epochs[-1].figures["perplexity"] < 0.5 * epochs[0].figures["perplexity"]
    assert all(torch.equal(p, before[n]) for n, p in encoder.model.named_parameters())


@pytest.mark.slow
def test_a_training_that_is_stopped_goes_on_to_the_same_bits(encoder, tmp_path):
    whole, _ = run(encoder, tmp_path / "whole")
    run(encoder, tmp_path / "parts", stop=1)
    again, _ = run(encoder, tmp_path / "parts")
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


def test_a_head_is_kept_in_a_file(encoder, tmp_path):
    head = MaskedHead.of(encoder)
    write_tensors(tmp_path / HEAD, head.state_dict())
    assert torch.equal(MaskedHead.load(tmp_path, encoder).dense.weight, head.dense.weight)


@pytest.mark.slow
def test_the_encoder_learns_if_it_may(encoder, tmp_path):
    own = Encoder.load(device="cpu", max_length=64)
    settings = replace(SETTINGS, encoder_rate=1e-4)
    _, epochs = run(own, tmp_path / "run", settings=settings)
    assert epochs[-1].figures["perplexity"] < 0.5 * epochs[0].figures["perplexity"]
    pairs = zip(own.model.parameters(), encoder.model.parameters(), strict=True)
    assert sum(not torch.equal(a, b) for a, b in pairs) > 50
