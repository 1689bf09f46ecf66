"""Similarities in batches and in parts, and products of complex vectors."""

import pytest
import torch

from kgraft.embed import settings, similarity
from kgraft.embed.similarity import SIMILARITIES, conjugate, halves, multiply


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_a_batch_is_its_parts(name):
    queries, candidates = drawn(3, 4, 6), drawn(3, 5, 6, seed=1)
    found = SIMILARITIES[name](queries, candidates)
    parts = [SIMILARITIES[name](q, c) for q, c in zip(queries, candidates, strict=True)]
    assert found.shape == (3, 4, 5)
    torch.testing.assert_close(found, torch.stack(parts))


@pytest.mark.parametrize("name", SIMILARITIES)
def test_nothing_asked_is_nothing_found(name):
    assert SIMILARITIES[name](drawn(0, 6), drawn(5, 6)).shape == (0, 5)


@pytest.mark.parametrize("room", [4, 1000])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_slopes_are_those_of_small_steps(monkeypatch, name, room):
    monkeypatch.setattr(similarity, "CACHED", room)
    leaves = [drawn(2, 3, 6).requires_grad_(), drawn(2, 5, 6, seed=1).requires_grad_()]
    assert torch.autograd.gradcheck(SIMILARITIES[name], leaves)


def test_what_fits_best_is_nearest():
    candidates = drawn(20, 6)
    for name, compare in SIMILARITIES.items():
        if name != "dot":
            assert compare(candidates, candidates).argmax(1).tolist() == list(range(20)), name
    assert set(SIMILARITIES) == set(settings.SIMILARITIES)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_l1_in_single_precision_is_l1(shape):
    """Single precision is computed elsewhere than double; values and slopes must agree."""
    queries, candidates = drawn(*shape, 7, 5), drawn(*shape, 4, 5, seed=1)
    candidates[..., 0, :] = queries[..., 0, :]  # at distance 0 no slope
    slopes = drawn(*shape, 7, 4, seed=2)
    found = []
    for kind in (torch.float32, torch.float64):
        leaves = [vectors.to(kind).requires_grad_() for vectors in (queries, candidates)]
        scores = similarity.l1(*leaves)
        (scores * slopes.to(kind)).sum().backward()
        found.append([scores.detach().double(), *(leaf.grad.double() for leaf in leaves)])
    naive = -(queries[..., :, None, :] - candidates[..., None, :, :]).abs().sum(-1)
    torch.testing.assert_close(found[1][0], naive)
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_nothing_asked_in_single_precision(name):
    assert SIMILARITIES[name](drawn(0, 6).float(), drawn(5, 6).float()).shape == (0, 5)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_moduli_take_bounded_room(monkeypatch, shape):
    held, differences = [], similarity._differences

    def watched(queries, candidates):
        parts = differences(queries, candidates)
        held.append(parts[0].numel())
        return parts

    queries, candidates = drawn(*shape, 64, 8), drawn(*shape, 10, 8, seed=1)
    whole = similarity.modulus(queries, candidates)
    monkeypatch.setattr(similarity, "_differences", watched)
    for room in (8, 100, 400, 2000):
        held.clear()
        monkeypatch.setattr(similarity, "CACHED", room)
        assert torch.equal(similarity.modulus(queries, candidates), whole)
        assert len(held) > 1
        assert max(held) <= room


def test_complex_products_are_those_of_complex_numbers():
    a, b = drawn(5, 8), drawn(5, 8, seed=1)
    as_complex = [torch.complex(*halves(vectors)) for vectors in (a, b)]
    product = as_complex[0] * as_complex[1]
    torch.testing.assert_close(torch.complex(*halves(multiply(a, b))), product)
    torch.testing.assert_close(
        torch.complex(*halves(conjugate(a))), as_complex[0].conj().resolve_conj()
    )
