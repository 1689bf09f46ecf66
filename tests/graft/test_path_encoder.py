"""What paths add to candidates agrees with the formula, path by path."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.conftest import SETTINGS
from tests.graft.drawn_paths import DrawnPaths, sequences
from tests.graft.tiny import draw_mentions, some

from kgraft.graft.candidate_pairs import CandidatePairs
from kgraft.graft.kinds.attention import KnowledgeAttention
from kgraft.graft.kinds.entity import EntityInjection, likeliest
from kgraft.graft.kinds.relation import RelationInjection
from kgraft.graft.path_encoder import PathEncoder
from kgraft.graft.path_index import PairPaths

SEEDS = st.integers(0, 10_000)


@pytest.fixture(scope="module")
def paths(graph):
    return DrawnPaths(graph)


class Uncertain:
    """The same paths with random weights."""

    def __init__(self, paths, seed):
        self.paths, self.seed = paths, seed

    def relation_vectors(self):
        return self.paths.relation_vectors()

    def paths_between(self, source, target):
        pair, code, weight = self.paths.paths_between(source, target)
        drawn = np.random.default_rng(self.seed).random(len(weight)).astype(np.float32)
        return PairPaths(pair, code, drawn)


def slow_gru(cell, x, h):
    reset, update, new = (x @ cell.weight_ih.T + cell.bias_ih).chunk(3)
    reset_h, update_h, new_h = (h @ cell.weight_hh.T + cell.bias_hh).chunk(3)
    z = (update + update_h).sigmoid()
    n = (new + (reset + reset_h).sigmoid() * new_h).tanh()
    return (1 - z) * n + z * h


def slow_hidden(encoder, relations, steps):
    h = torch.zeros(encoder.step.hidden_size)
    for step in steps:
        direction = int(step >= len(relations) // 2)
        x = encoder.relation.weight @ relations[step] + encoder.relation.bias
        h = slow_gru(encoder.step, x + encoder.direction.weight[direction], h)
    return h


def slow_path_vectors(encoder, mentions, source, index):
    """By row of a candidate: its paths with their weights, then their weighted sum."""
    pairs, relations = CandidatePairs.of(mentions), source.relation_vectors()
    paths = source.paths_between(pairs.entity, pairs.other_entity)
    members = {}
    for pair, row in enumerate(pairs.row.tolist()):
        weights = paths.weight[paths.pair == pair].tolist()
        for steps, weight in zip(sequences(index, paths, pair), weights, strict=True):
            h = slow_hidden(encoder, relations, steps)
            power = weight * float(pairs.prior[pair]) * math.exp(encoder.score.weight[0] @ h)
            members.setdefault(row, []).append((power, h))
    return {
        row: encoder.out.weight @ sum(p * h for p, h in own) / (1 + sum(p for p, _ in own))
        for row, own in members.items()
    }


def joined_mentions(seed):
    """Random mentions of the entities that have facts."""
    return draw_mentions(seed, count=8, spans=4, length=12)


@given(seed=SEEDS)
@some
@torch.no_grad()
def test_vectors_agree_with_the_formula(paths, seed):
    torch.manual_seed(seed)
    encoder, mentions, source = PathEncoder(6, 5), joined_mentions(seed), Uncertain(paths, seed)
    vectors = encoder(mentions, source)
    expected = slow_path_vectors(encoder, mentions, source, paths._index)
    assert vectors.row.tolist() == sorted(expected)
    for row, vector in zip(vectors.row.tolist(), vectors.vectors, strict=True):
        torch.testing.assert_close(vector, expected[row], rtol=1e-4, atol=1e-5)


@given(seed=SEEDS)
@some
@torch.no_grad()
def test_attention_reads_candidates_with_their_paths(paths, seed):
    torch.manual_seed(seed)
    graft, mentions = KnowledgeAttention(24, paths, SETTINGS).eval(), joined_mentions(seed)
    added = graft.paths(mentions, paths)
    vectors = paths.take(mentions.entity)
    vectors = torch.where((mentions.entity == -2)[..., None], graft.mask, vectors).flatten(0, 2)
    for row, vector in zip(added.row.tolist(), added.vectors, strict=True):
        vectors[row] += vector
    expected = graft.entity(vectors).view(*mentions.entity.shape, -1)
    torch.testing.assert_close(graft.entities(mentions, paths), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [EntityInjection, RelationInjection])
@torch.no_grad()
def test_injection_adds_the_paths_of_the_likeliest(paths, kind):
    torch.manual_seed(0)
    hidden, mentions = torch.randn(2, 12, 24), joined_mentions(5)
    graft = kind(24, paths).eval()
    _, with_paths = graft(hidden, mentions, paths)
    added = torch.zeros_like(with_paths.mention_vectors).flatten(0, 1)
    chosen = likeliest(mentions).flatten()
    vectors = graft.paths(mentions, paths)
    for row, vector in zip(vectors.row.tolist(), vectors.vectors, strict=True):
        added[row // mentions.entity.shape[2]] += chosen[row] * vector
    graft.paths = None
    _, without = graft(hidden, mentions, paths)
    assert added.abs().sum() > 0
    expected = without.mention_vectors + added.view_as(without.mention_vectors)
    torch.testing.assert_close(with_paths.mention_vectors, expected)


def test_all_parts_learn(paths):
    torch.manual_seed(0)
    encoder = PathEncoder(6, 5)
    encoder(joined_mentions(5), paths).vectors.square().sum().backward()
    assert not [n for n, p in encoder.named_parameters() if not p.grad.abs().sum()]
