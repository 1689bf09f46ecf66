"""The head learns to read an encoder that does not change."""

import pytest
import torch

from kgraft.text import Encoder, MaskedHead, MaskedSettings, MaskedTask
from kgraft.text.masked import HEAD
from kgraft.training import fit

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog"] * 8
SETTINGS = MaskedSettings(epochs=3, head_rate=5e-3, batch_tokens=64)


def run(encoder, out, *, stop=None, settings=SETTINGS):
    torch.manual_seed(0)
    head = MaskedHead.of(encoder)
    windows = encoder.windows(TEXTS)
    task = MaskedTask(encoder, head, windows, windows, settings)
    epochs = []
    for epoch in fit(task, out, settings):
        epochs.append(epoch)
        if epoch.number == stop:
            break
    return head, epochs


@pytest.mark.slow
def test_the_head_learns_and_the_encoder_does_not(encoder, tmp_path):
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    head, epochs = run(encoder, tmp_path / "head")
    assert epochs[-1].figures["perplexity"] < 0.5 * epochs[0].figures["perplexity"]
    assert all(torch.equal(p, before[n]) for n, p in encoder.model.named_parameters())
    assert torch.equal(MaskedHead.load(tmp_path / "head", encoder).dense.weight, head.dense.weight)


@pytest.mark.slow
def test_a_stopped_training_resumes_to_the_same_bits(encoder, tmp_path):
    run(encoder, tmp_path / "whole")
    run(encoder, tmp_path / "parts", stop=1)
    run(encoder, tmp_path / "parts")
    whole, parts = (tmp_path / name / HEAD for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


@pytest.mark.slow
def test_an_encoder_with_a_rate_learns_and_is_written(encoder, tmp_path):
    own = Encoder.load(device="cpu", max_length=64)
    _, epochs = run(own, tmp_path / "both", settings=SETTINGS.replace(encoder_rate=1e-4))
    assert epochs[-1].figures["perplexity"] < 0.5 * epochs[0].figures["perplexity"]
    pairs = zip(own.model.parameters(), encoder.model.parameters(), strict=True)
    assert sum(not torch.equal(a, b) for a, b in pairs) > 50
    again = Encoder.load(tmp_path / "both", device="cpu")
    assert torch.equal(again.words, own.words)
