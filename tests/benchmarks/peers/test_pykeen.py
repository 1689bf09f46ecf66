import math
import warnings

import numpy as np
import pytest
import torch
from benchmarks.peers.pykeen import (
    Options,
    Peer,
    as_halves,
    as_pairs,
    filter_triples,
    peak_megabytes,
    unit_pairs,
)

from kgraft.embed import EmbeddingTables, EmbedSettings

ENTITIES, RELATIONS, DIMENSION = 7, 3, 6
TRIPLES = np.array([[0, 0, 1], [1, 1, 2], [2, 2, 3], [0, 0, 4], [5, 1, 6], [6, 2, 0]])


def test_halves_become_pairs_and_complex_numbers_become_halves():
    halves = torch.tensor([[1.0, 2.0, 3.0, 4.0]])  # 1 + 3i, 2 + 4i
    pairs = as_pairs(halves)
    assert pairs.tolist() == [[[1.0, 3.0], [2.0, 4.0]]]
    assert torch.equal(as_halves(torch.view_as_complex(pairs)), halves)


def test_angles_become_numbers_of_modulus_one():
    angles = torch.tensor([[0.0, math.pi / 2, -2.0]])
    pairs = unit_pairs(angles)
    torch.testing.assert_close(pairs[0, 1], torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(torch.view_as_complex(pairs).angle(), angles)


def test_the_peak_is_that_of_a_process_with_torch():
    assert 50 < peak_megabytes() < 1e6


@pytest.fixture(params=["transe", "rotate"])
def tables(request):
    settings = EmbedSettings(
        model=request.param, similarity="l2", dimension=DIMENSION, reciprocal=False, scale=1.0
    )
    return EmbeddingTables.draw(settings, ENTITIES, RELATIONS)


@pytest.fixture
def peer(tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pykeen.models")
    options = Options(dimension=DIMENSION, negatives=2, batch=3)
    vectors = tables.entities, tables.relations
    name = tables.settings.model
    return Peer(name, ENTITIES, RELATIONS, vectors=vectors, options=options)


def test_the_peer_gives_back_the_vectors_it_was_given(tables, peer):
    entities, relations = peer.vectors()
    assert torch.equal(entities, tables.entities)
    torch.testing.assert_close(relations, tables.relations)


def test_the_peer_scores_like_kgraft(tables, peer):
    triples = torch.from_numpy(TRIPLES)
    theirs = peer.model.score_hrt(triples)[:, 0]
    torch.testing.assert_close(tables.score_triples(*triples.T), theirs)


@pytest.mark.filterwarnings("ignore")
def test_the_peer_trains_its_own_copy(tables, peer):
    before = tables.entities.clone()
    taken = list(peer.epochs(TRIPLES, 2))
    assert len(taken) == 2
    assert min(taken) > 0
    assert torch.equal(tables.entities, before)
    assert not torch.allclose(peer.vectors()[0], before)


@pytest.mark.filterwarnings("ignore")
def test_the_peer_ranks_tails_then_heads(tables, peer):
    seconds, ranks = peer.rank(TRIPLES, filter_triples(TRIPLES), batch=4)
    assert seconds > 0
    assert ranks.shape == (2 * len(TRIPLES),)
    heads, relations, tails = torch.from_numpy(TRIPLES[:1]).T
    asked = tables.score_tails(heads, relations)[0]
    asked[4] = -torch.inf  # (0, 0, 4) is known, too
    assert ranks[0] == 1 + (asked > asked[1]).sum()
    asked = tables.score_heads(relations, tails)[0]
    assert ranks[len(TRIPLES)] == 1 + (asked > asked[0]).sum()
