"""Support: candidates of one text whose entities share a triple."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import TRIPLES, build, quick
from tests.link.tiny import mentions_of, nested_spans

from kgraft.graph import Match
from kgraft.link import coherence
from kgraft.link.coherence import Support, find_support

ADDED = 1000  # index of an entity that is not in the graph


@pytest.fixture(scope="module")
def edges(graph):
    """All pairs of entities that a triple connects, both ways."""
    pairs = {tuple(graph.indices_of([head, tail]).tolist()) for head, _, tail in TRIPLES}
    return pairs | {pair[::-1] for pair in pairs}


@st.composite
def mention_rows(draw):
    rows = []
    for span in draw(nested_spans(size=8)):
        entities = draw(st.lists(st.integers(0, 13) | st.just(ADDED), max_size=4, unique=True))
        rows.append((*span, [(entity, Match.NAME, 0.5) for entity in entities]))
    return rows


def candidates_of(rows):
    """Return (mention, text, entity) of each candidate."""
    return [
        (row, text, candidate[0])
        for row, (text, _, _, candidates) in enumerate(rows)
        for candidate in candidates
    ]


def pairs_of(columns):
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(mention_rows())
@quick
def test_support_is_that_of_a_double_loop_over_candidates(graph, edges, rows):
    support = find_support(graph, mentions_of(rows))
    neighbours = []
    for i, (mention, text, entity) in enumerate(candidates_of(rows)):
        for j, (other_mention, other_text, other) in enumerate(candidates_of(rows)):
            if text != other_text or mention == other_mention:
                continue
            if (entity, other) in edges:
                neighbours.append((i, j))
    assert sorted(pairs_of(support.pairs)) == neighbours


def test_features_are_sums_of_the_scores_that_support():
    first, second = np.array([0, 0, 2]), np.array([1, 2, 0])
    support = Support((first, second))
    scores = torch.tensor([0.9, 0.5, 0.25])
    expected = [[math.log1p(0.5 + 0.25)], [0], [math.log1p(0.9)]]
    assert support.features(scores).tolist() == [pytest.approx(row) for row in expected]


def test_a_hub_that_is_cut_off_is_found_from_the_other_side(tmp_path, monkeypatch):
    """Of the hub only one neighbour is looked at; each of the others sees the hub."""
    monkeypatch.setattr(coherence, "MOST_NEIGHBOURS", 1)
    entities = [{"id": name, "label": name} for name in ("hub", "a", "b", "c")]
    triples = [("hub", "near", name) for name in "abc"]
    graph = build(tmp_path / "hub", triples, entities, [{"id": "near", "label": "near"}])
    hub, *others = graph.indices_of(["hub", "a", "b", "c"]).tolist()
    rows = [(0, 4 * n, 4 * n + 3, [(entity, Match.NAME, 0.5)])
            for n, entity in enumerate([hub, *others])]  # fmt: skip
    support = find_support(graph, mentions_of(rows))
    assert sorted(pairs_of(support.pairs)) == [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]


def test_without_mentions_or_triples_nothing_supports(graph, nothing):
    for where, rows in ((graph, []), (nothing, [(0, 0, 3, [(ADDED, Match.NAME, 0.5)])])):
        support = find_support(where, mentions_of(rows))
        assert pairs_of(support.pairs) == []
        assert support.features(torch.zeros(len(rows))).shape == (len(rows), 1)
