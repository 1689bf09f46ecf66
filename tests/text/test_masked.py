"""Tokens are hidden in the shares of the paper, and the head says what they were."""

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu, layer_norm

from kgraft.errors import BadInput
from kgraft.text import (
    MaskedHead,
    TokenMask,
    length_batches,
    masked_losses,
    masked_perplexity,
)


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


def test_shares(encoder):
    ids = torch.full((400, 100), 2000)
    masked = TokenMask(encoder)(ids, drawn())
    chosen = masked.chosen
    assert abs(chosen.float().mean() - 0.15) < 0.005
    shown = masked.ids[chosen]
    assert abs((shown == encoder.tokenizer.mask_token_id).float().mean() - 0.8) < 0.02
    assert abs((shown == 2000).float().mean() - 0.1) < 0.02
    assert torch.equal(masked.ids[~chosen], ids[~chosen])
    assert torch.equal(masked.target, ids[chosen])


def test_special_tokens_are_never_chosen(encoder):
    ids = torch.tensor(sorted(encoder.tokenizer.all_special_ids)).repeat(200, 1)
    masked = TokenMask(encoder)(ids, drawn())
    assert not masked.chosen.any()
    assert torch.equal(masked.ids, ids)


def test_the_same_generator_hides_the_same(encoder):
    ids = torch.randint(1000, 2000, (5, 9), generator=drawn())
    mask = TokenMask(encoder)
    assert torch.equal(mask(ids, drawn(3)).ids, mask(ids, drawn(3)).ids)


def test_the_head_is_its_formula():
    torch.manual_seed(0)
    head, words, hidden = MaskedHead(6, 11), torch.randn(11, 6), torch.randn(4, 6)
    head.bias.data.normal_()
    inner = gelu(hidden @ head.dense.weight.T + head.dense.bias)
    inner = layer_norm(inner, (6,), head.norm.weight, head.norm.bias)
    torch.testing.assert_close(head(hidden, words), inner @ words.T + head.bias)


def test_the_loss_is_that_of_the_chosen_tokens_alone(encoder):
    torch.manual_seed(0)
    head = MaskedHead.of(encoder)
    ids = torch.randint(1000, 2000, (3, 20), generator=drawn())
    masked = TokenMask(encoder)(ids, drawn())
    hidden = torch.randn(3, 20, encoder.dimension)
    words = encoder.model.get_input_embeddings().weight
    logits = head(hidden, words).log_softmax(-1)
    each = [-logits[b, t, ids[b, t]] for b, t in masked.chosen.nonzero().tolist()]
    expected = torch.stack(each).mean()
    torch.testing.assert_close(head.loss(hidden, masked, words), expected)


def test_a_batch_without_chosen_tokens_costs_nothing(encoder):
    head, mask = MaskedHead.of(encoder), TokenMask(encoder)
    masked = mask(torch.tensor([[101, 102]]), drawn())
    words = encoder.model.get_input_embeddings().weight
    assert head.loss(torch.randn(1, 2, encoder.dimension), masked, words).item() == 0


@pytest.mark.parametrize("share", [0, 1, -0.1])
def test_a_share_that_makes_no_sense_is_refused(encoder, share):
    with pytest.raises(BadInput, match="share is"):
        TokenMask(encoder, share=share)


def test_some_tokens_are_hidden_often(encoder):
    ids = torch.full((400, 100), 2000)
    often = torch.zeros(400, 100, dtype=torch.bool)
    often[:, :10] = True
    shares = torch.full((400, 100), 0.15).masked_fill(often, 0.5)
    masked = TokenMask(encoder)(ids, drawn(), shares=shares)
    assert abs(masked.chosen[often].float().mean() - 0.5) < 0.03
    assert abs(masked.chosen[~often].float().mean() - 0.15) < 0.01
    shown = masked.ids[masked.chosen & often]
    assert abs((shown == encoder.tokenizer.mask_token_id).float().mean() - 0.8) < 0.04


def test_losses_are_those_of_each_token(encoder):
    torch.manual_seed(0)
    head, mask = MaskedHead.of(encoder), TokenMask(encoder, share=0.5)
    windows = encoder.windows(["the cat sat on the mat", "", "a dog", "rain and snow " * 9])

    @torch.no_grad()
    def read(indices):
        ids, there = map(torch.from_numpy, windows.padded(indices))
        masked = mask(ids, drawn(int(indices[0])))
        return encoder.read(masked.ids, there), masked

    losses = masked_losses(head, encoder.words, windows, read, token_budget=40)
    expected = np.zeros((4, 2))
    for indices in length_batches(windows.lengths, 40):
        hidden, masked = read(indices)
        target = iter(masked.target.tolist())
        for row, column in masked.chosen.nonzero().tolist():
            with torch.no_grad():
                log_odds = head(hidden[row, column][None], encoder.words)[0].log_softmax(-1)
            expected[indices[row]] += (-float(log_odds[next(target)]), 1)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    total, count = expected.sum(0)
    assert masked_perplexity(losses) == pytest.approx(np.exp(total / count), rel=1e-5)


def test_perplexity_of_nothing_and_of_too_much():
    assert masked_perplexity(np.zeros((3, 2))) == 1
    assert masked_perplexity(np.array([[1e6, 1.0]])) == np.exp(50)
