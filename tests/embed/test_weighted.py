"""Weighted distances against slow versions, in batches, with slopes, in bounded memory."""

import pytest
import torch

from kgraft.embed import similarity, weighted
from kgraft.embed.weighted import weighted_l1, weighted_l2

BOTH = pytest.mark.parametrize(
    ("compare", "power"), [(weighted_l1, 1), (weighted_l2, 2)], ids=["l1", "l2"]
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def tensors(*groups, queries=7, candidates=5, width=6):
    return (
        drawn(*groups, queries, width),
        drawn(*groups, queries, width, seed=1),
        drawn(*groups, candidates, width, seed=2),
    )


def naive(power, queries, weights, candidates):
    """Return −‖q − w ∘ c‖ of each pair in turn."""
    rows = []
    for q, w in zip(queries, weights, strict=True):
        sizes = [sum(abs(d) ** power for d in (q - w * c).tolist()) for c in candidates]
        rows.append([-(size ** (1 / power)) for size in sizes])
    return torch.tensor(rows, dtype=torch.float64)


@BOTH
def test_each_pair_has_the_distance_of_the_formula(compare, power):
    parts = tensors()
    torch.testing.assert_close(compare(*parts), naive(power, *parts))


@BOTH
def test_a_batch_is_its_groups(compare, power):
    parts = tensors(2, 3)
    scores = compare(*parts)
    assert scores.shape == (2, 3, 7, 5)
    torch.testing.assert_close(scores[1, 2], naive(power, *(part[1, 2] for part in parts)))


@BOTH
def test_no_queries_have_no_scores(compare, power):
    assert compare(*tensors(queries=0)).shape == (0, 5)


@pytest.mark.parametrize("room", [4, 1000])
@BOTH
def test_slopes_are_those_of_small_steps(monkeypatch, compare, power, room):
    monkeypatch.setattr(similarity, "CACHED", room)
    leaves = [part.requires_grad_() for part in tensors(2, queries=3, width=4)]
    assert torch.autograd.gradcheck(compare, leaves)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_l1_takes_bounded_memory(monkeypatch, shape):
    sizes, differences = [], weighted._differences

    def watched(*parts):
        result = differences(*parts)
        sizes.append(result.numel())
        return result

    leaves = [part.requires_grad_() for part in tensors(*shape, queries=64, candidates=10)]
    expected = weighted_l1(*leaves)
    slopes = torch.autograd.grad(expected.sum(), leaves)
    monkeypatch.setattr(weighted, "_differences", watched)
    for room in (6, 100, 400):
        sizes.clear()
        monkeypatch.setattr(similarity, "CACHED", room)
        scores = weighted_l1(*leaves)
        assert torch.equal(scores, expected)
        for slope, usual in zip(torch.autograd.grad(scores.sum(), leaves), slopes, strict=True):
            torch.testing.assert_close(slope, usual)
        assert len(sizes) > 2
        assert max(sizes) <= 2 * room
