"""New splits: no triple is held out whose mirror is in train, and nothing is missing there."""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph import SPLITS, Graph, check_graph, split_graph
from kgraft.graph.resplit import mirrored_relations


def triples_of(graph):
    t = graph.triples
    columns = (t.head.tolist(), t.relation.tolist(), t.tail.tolist(), t.split.tolist())
    return {(h, r, o): SPLITS[s] for h, r, o, s in zip(*columns, strict=True)}


def naive_mirrors(triples, overlap):
    """Compare the pairs of all relations with one another."""
    pairs = {}
    for head, relation, tail in triples:
        pairs.setdefault(relation, set()).add((head, tail))
    found = {}
    for r, s in ((r, s) for r in pairs for s in pairs if r <= s):
        for inverse in (False, True):
            if r == s and not inverse:
                continue
            other = {(t, h) for h, t in pairs[s]} if inverse else pairs[s]
            shared = len({(h, t) for h, t in pairs[r] & other if h != t})
            if shared and shared / min(len(pairs[r]), len(pairs[s])) >= overlap:
                found[r, s, inverse] = shared
    return found


TRIPLE = st.tuples(st.integers(0, 7), st.integers(0, 3), st.integers(0, 7))
TRIPLES = st.sets(TRIPLE, min_size=1, max_size=40)


def build(make_graph, folder, triples):
    rows = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in sorted(triples)]
    entities = [{"id": f"e{number}"} for number in range(8)]
    return make_graph(Path(folder), rows, entities, [{"id": f"r{n}"} for n in range(4)])


@pytest.mark.slow
@given(TRIPLES, st.sampled_from([0.3, 0.5, 1.0]))
def test_mirrors_are_those_of_a_plain_loop(make_graph, triples, overlap):
    with tempfile.TemporaryDirectory() as folder:
        found = mirrored_relations(build(make_graph, folder, triples), overlap=overlap)
    as_loop = {(p.first, p.second, p.inverse): p.shared for p in found}
    assert as_loop == naive_mirrors(triples, overlap)
    assert [p.share for p in found] == sorted((p.share for p in found), reverse=True)


@pytest.mark.slow
@given(TRIPLES, st.floats(0, 0.45), st.floats(0, 0.45), st.integers(0, 9))
def test_no_leak_and_nothing_missing_in_train(make_graph, triples, valid, test, seed):
    with tempfile.TemporaryDirectory() as folder:
        graph = build(make_graph, folder, triples)
        made = split_graph(graph, Path(folder) / "split", valid=valid, test=test, seed=seed)
        sides = triples_of(made.graph)
    assert sides.keys() == triples
    mirrors = naive_mirrors(triples, 0.5)
    for (head, relation, tail), side in sides.items():
        for other in range(4):
            pair = (min(relation, other), max(relation, other))
            if (*pair, True) in mirrors:
                assert sides.get((tail, other, head), side) == side
            if (*pair, False) in mirrors:
                assert sides.get((head, other, tail), side) == side
    train = [triple for triple, side in sides.items() if side == "train"]
    assert {e for h, _, t in train for e in (h, t)} == {e for h, _, t in sides for e in (h, t)}
    assert {r for _, r, _ in train} == {r for _, r, _ in sides}
    counts = Counter(sides.values())
    assert counts["valid"] + counts["test"] <= made.wanted["valid"] + made.wanted["test"]


@pytest.mark.slow
def test_as_many_are_held_out_as_asked_for_and_a_seed_says_which(tmp_path):
    world = Graph.open("world").without(tmp_path / "less", relations=["located_in"])
    made = [
        split_graph(world, tmp_path / f"{number}", valid=0.2, test=0.1, seed=seed)
        for number, seed in enumerate((3, 3, 4))
    ]
    assert made[0].graph.manifest.version == made[1].graph.manifest.version
    assert made[0].graph.manifest.version != made[2].graph.manifest.version
    wanted, splits = made[0].wanted, made[0].graph.manifest.splits
    assert wanted["valid"] == round(0.2 * world.manifest.triples)
    assert sum(wanted.values()) == world.manifest.triples
    assert abs(splits["test"] / splits["valid"] - 0.5) < 0.02
    assert made[0].graph.manifest.parent == world.manifest.version
    assert check_graph(made[0].graph.folder) == []
    borders = world.relation("borders").index
    assert (borders, borders, True) in {(p.first, p.second, p.inverse) for p in made[0].mirrored}


def test_a_triple_of_two_splits_gets_one(make_graph, tmp_path):
    graph = make_graph(tmp_path, [("a", "r", "b", "train"), ("a", "r", "b", "test")])
    made = split_graph(graph, tmp_path / "split")
    assert made.graph.manifest.splits == {"train": 1, "valid": 0, "test": 0}


def test_a_graph_without_triples(make_graph, tmp_path):
    graph = make_graph(tmp_path, [], [{"id": "a"}])
    assert split_graph(graph, tmp_path / "split").graph.manifest.triples == 0


@pytest.mark.parametrize("fractions", [(0.5, 0.5), (-0.1, 0.1), (0.1, 1.0), (float("nan"), 0.1)])
def test_fractions_that_leave_nothing_are_refused(small, tmp_path, fractions):
    with pytest.raises(BadInput):
        split_graph(small, tmp_path / "split", valid=fractions[0], test=fractions[1])
    with pytest.raises(BadInput):
        split_graph(small, tmp_path / "split", seed=-1)
    assert not (tmp_path / "split").exists()
