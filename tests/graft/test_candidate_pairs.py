"""Candidates are paired with those of the nearest other mentions of their window."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import draw_mentions, some

from kgraft.graft import candidate_pairs
from kgraft.graft.candidate_pairs import CandidatePairs


def slow_pairs(mentions, likeliest, nearest):
    batch, spans, width = mentions.entity.shape
    entity, prior = mentions.entity.tolist(), mentions.prior.tolist()

    def likely(b, m):
        own = [k for k in range(width) if entity[b][m][k] >= 0]
        return sorted(own, key=lambda k: -prior[b][m][k])[:likeliest]

    def are_apart(b, m, n):
        first, last = mentions.first[b], mentions.last[b]
        return last[m] <= first[n] or last[n] <= first[m]

    for b, m, n in product(range(batch), range(spans), range(spans)):
        if m == n or abs(m - n) > nearest or not are_apart(b, m, n):
            continue
        for k, j in product(likely(b, m), likely(b, n)):
            one, other = entity[b][m][k], entity[b][n][j]
            if one != other:
                rows = [(b * spans + x) * width + y for x, y in ((m, k), (n, j))]
                yield (*rows, one, other, round(prior[b][n][j], 6))


@given(seed=st.integers(0, 10_000), likeliest=st.integers(1, 3), nearest=st.integers(1, 3))
@some
def test_pairs_agree_with_loops(seed, likeliest, nearest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidate_pairs, "LIKELIEST", likeliest)
        patch.setattr(candidate_pairs, "NEAREST", nearest)
        mentions = draw_mentions(seed)
        pairs = CandidatePairs.of(mentions)
        columns = (column.tolist() for column in pairs)
        rows = {(*ids, round(prior, 6)) for *ids, prior in zip(*columns, strict=True)}
        assert len(pairs.row) == len(rows)
        assert rows == set(slow_pairs(mentions, likeliest, nearest))
