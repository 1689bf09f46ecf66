"""The link head: probabilities of candidates and of "none", and their loss, by the formulas."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick

from kgraft.link.head import LinkHead, link_loss, log_probabilities

LOGITS = st.lists(
    st.lists(st.floats(-40, 40, width=32), max_size=4), min_size=1, max_size=6
)  # one list per mention


def columns(logits):
    """Return logits (C,) and owners (C,) of the candidates of mentions."""
    owner = [row for row, candidates in enumerate(logits) for _ in candidates]
    flat = [logit for candidates in logits for logit in candidates]
    return torch.tensor(flat, dtype=torch.float64), torch.tensor(owner, dtype=torch.int64)


def naive_probabilities(candidates):
    """p(e) = exp a(e) / (1 + Σ exp a(e')), and p(none) = 1 / (1 + Σ exp a(e'))."""
    total = 1 + sum(math.exp(logit) for logit in candidates)
    return [math.exp(logit) / total for logit in candidates], 1 / total


@given(LOGITS)
@quick
def test_probabilities_follow_the_formula(logits):
    log_p, log_none = log_probabilities(*columns(logits), len(logits))
    naive = [naive_probabilities(candidates) for candidates in logits]
    flat = [p for candidates, _ in naive for p in candidates]
    assert log_p.exp().tolist() == pytest.approx(flat, abs=1e-9)
    assert log_none.exp().tolist() == pytest.approx([none for _, none in naive], abs=1e-9)


@given(LOGITS)
@quick
def test_candidates_and_none_sum_to_1(logits):
    flat, owner = columns(logits)
    log_p, log_none = log_probabilities(flat, owner, len(logits))
    total = log_none.exp().index_add(0, owner, log_p.exp())
    torch.testing.assert_close(total, torch.ones_like(total))


def test_large_logits_stay_numbers():
    log_p, log_none = log_probabilities(
        torch.tensor([1e4, -1e4, -torch.inf]), torch.tensor([0, 0, 1]), 2
    )
    assert log_p.tolist() == [0, -2e4, -math.inf]
    assert log_none.tolist() == [-1e4, 0]


@given(LOGITS, st.data())
@quick
def test_the_loss_is_the_weighted_mean_cross_entropy(logits, data):
    rows = [data.draw(st.integers(-1, len(candidates) - 1)) for candidates in logits]
    weights = [data.draw(st.floats(0, 2, width=32)) for _ in logits]
    first = [sum(map(len, logits[:row])) for row in range(len(logits))]
    gold = torch.tensor([-1 if row < 0 else first[i] + row for i, row in enumerate(rows)])
    flat, owner = columns(logits)
    if not len(flat):
        return
    loss = link_loss(flat, owner, gold, torch.tensor(weights, dtype=torch.float64))
    total = 0.0
    for candidates, row, weight in zip(logits, rows, weights, strict=True):
        log_total = math.log(1 + sum(map(math.exp, candidates)))
        total += weight * (log_total - (candidates[row] if row >= 0 else 0))
    assert loss.item() == pytest.approx(total / max(sum(weights), 1e-6), rel=1e-6, abs=1e-9)


def test_mentions_of_weight_0_have_no_loss_and_no_gradient():
    logits = torch.tensor([2.0, -1.0], requires_grad=True)
    loss = link_loss(logits, torch.tensor([0, 1]), torch.tensor([0, -1]), torch.zeros(2))
    loss.backward()
    assert (loss.item(), logits.grad.tolist()) == (0, [0, 0])


def test_a_candidate_taken_away_leaves_finite_gradients():
    logits = torch.tensor([2.0, -1.0, 0.5], requires_grad=True)
    dropped = logits.masked_fill(torch.tensor([True, False, False]), -torch.inf)
    gold, weight = torch.tensor([-1, 2]), torch.ones(2)
    link_loss(dropped, torch.tensor([0, 0, 1]), gold, weight).backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[0] == 0


def test_the_head_is_a_network_with_two_hidden_layers():
    head = LinkHead(5, 4)
    features = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))

    def gelu(x):
        return x * 0.5 * (1 + torch.erf(x / 2**0.5))

    for row, logit in zip(features, head(features), strict=True):
        hidden = gelu(head.hidden.weight @ row + head.hidden.bias)
        deeper = gelu(head.deeper.weight @ hidden + head.deeper.bias)
        expected = head.logit.weight[0] @ deeper + head.logit.bias[0]
        torch.testing.assert_close(logit, expected)
