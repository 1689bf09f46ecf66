"""The paths between entities are those that a walk over all facts finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.drawn_paths import sequences, slow_paths, triples_of
from tests.graft.tiny import few, some

from kgraft.errors import BadInput
from kgraft.graft import path_index
from kgraft.graft.path_index import PathIndex, StepCodes
from kgraft.graph import TripleArrays

ENTITIES, RELATIONS = 6, 3
TRIPLES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=14
)
PAIRS = np.array([(a, b) for a in range(ENTITIES) for b in range(ENTITIES)])


class Facts:
    """As much of a graph as an index needs."""

    entities, relations = range(ENTITIES), range(RELATIONS)

    def __init__(self, triples):
        columns = np.array(sorted(triples), np.int32).T
        self.triples = TripleArrays(*columns, np.zeros(len(triples), np.int8))


@pytest.mark.slow
@given(triples=TRIPLES, most=st.sampled_from([1, 3, 100]), longest=st.integers(1, 3))
@some
def test_paths_agree_with_a_walk(triples, most, longest):
    index = PathIndex(Facts(triples))
    paths = index.between(*PAIRS.T, longest=longest, most=most)
    assert (np.diff(paths.pair) >= 0).all()
    assert (paths.weight == 1).all()
    for pair, (source, target) in enumerate(PAIRS.tolist()):
        expected = (
            {} if source == target else slow_paths(triples, RELATIONS, source, target, longest)
        )
        kept = sequences(index, paths, pair)
        order = [(len(steps), expected[steps]) for steps in kept]
        best = sorted((len(steps), cost) for steps, cost in expected.items())
        assert len(set(kept)) == len(kept)
        assert order == best[:most]


@given(triples=TRIPLES)
@few
def test_the_way_back_is_the_inverse(triples):
    index = PathIndex(Facts(triples))
    there, back = index.between(*PAIRS.T), index.between(*PAIRS.T[::-1])
    for pair in range(len(PAIRS)):
        turned = [
            tuple((step + RELATIONS) % (2 * RELATIONS) for step in steps[::-1])
            for steps in sequences(index, back, pair)
        ]
        assert sorted(sequences(index, there, pair)) == sorted(turned)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=3))
@some
def test_codes_are_sequences(steps):
    codes = StepCodes(relations=5)
    code = 0
    for step in steps:
        code = code * codes.base + step + 1
    padded = [-1] * (3 - len(steps)) + steps
    turned = [(step + 5) % 10 for step in steps[::-1]]
    assert codes.steps(np.array([code])).tolist() == [padded]
    assert (
        codes.steps(codes.inverse(np.array([code])))[0].tolist()
        == padded[: 3 - len(steps)] + turned
    )


def test_hubs_are_left_out_of_long_paths_only(graph, monkeypatch):
    index = PathIndex(graph)
    pair = [np.array([graph.index(name)]) for name in ("r0", "berlin")]
    expected = slow_paths(triples_of(graph), len(graph.relations), *(int(e[0]) for e in pair))
    assert {len(steps) for steps in expected} == {3}
    assert set(sequences(index, index.between(*pair), 0)) == expected.keys()
    monkeypatch.setattr(path_index, "ROOM", 1)
    assert sequences(index, index.between(*pair), 0) == []
    near = [np.array([graph.index(name)]) for name in ("r0", "germany")]
    assert {len(steps) for steps in sequences(index, index.between(*near), 0)} == {2}


def test_too_many_relations_are_refused(monkeypatch):
    monkeypatch.setattr(path_index, "MOST_RELATIONS", 2)
    with pytest.raises(BadInput, match="3 relations"):
        PathIndex(Facts([(0, 0, 1)]))
