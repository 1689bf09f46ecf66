import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reason.rules.naive import as_dict, make_graph, naive_rules

from kgraft.errors import BadInput
from kgraft.reason import MiningSettings, RuleSet, mine_rules
from kgraft.reason.rules.counting import count_bodies
from kgraft.reason.rules.edges import make_edges
from kgraft.reason.rules.mine import (
    best_long_paths,
    check_sizes,
    forward,
    one_direction,
    reverse_bodies,
)

ENTITIES, RELATIONS = 5, 2
TRIPLES = st.lists(
    st.tuples(
        st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1), st.integers(0, ENTITIES - 1)
    ),
    max_size=14,
)
EVERYTHING = MiningSettings(
    rounds=6,
    min_support=1,
    constant_support=1,
    min_confidence=0.0,
    constant_confidence=0.0,
    groundings=10**6,
)
SLOW = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SLOW
@given(triples=TRIPLES)
def test_mining_agrees_with_a_naive_miner(tmp_path_factory, triples):
    graph = make_graph(tmp_path_factory.mktemp("g") / "g", triples, entities=5, relations=2)
    mined = mine_rules(graph, EVERYTHING).rules
    rules = as_dict(mined.take(mined.length > 0))
    expected = naive_rules(triples, ENTITIES, RELATIONS, min_support=1)
    assert {k: v for k, v in rules.items() if len(k[2]) < 3} == {
        k: v for k, v in expected.items() if len(k[2]) < 3
    }
    # Chains of three are drawn: a few may be missing, but what is there is counted right.
    assert all(expected[key] == counts for key, counts in rules.items())


def test_a_drawn_path_of_three_is_there(tmp_path):
    triples = [(0, 0, 1), (1, 1, 2), (2, 0, 3), (0, 2, 3)]
    triples += [(h + 4, r, t + 4) for h, r, t in triples]
    graph = make_graph(tmp_path / "g", triples, entities=8)
    rules = as_dict(mine_rules(graph, MiningSettings(rounds=3, min_confidence=0.0)).rules)
    assert rules[2, -1, (0, 1, 0), -1] == (2, 2)


def test_rules_without_a_body_count_the_entities_of_a_relation(tmp_path):
    graph = make_graph(tmp_path / "g", [(0, 0, 1), (2, 0, 1), (3, 0, 4)])
    rules = mine_rules(graph, MiningSettings(rounds=0)).rules
    counts = as_dict(rules.take(rules.length == 0))
    assert counts[0, 1, (), -1] == (2, 3)
    assert counts[0, 4, (), -1] == (1, 3)


def test_the_same_rounds_give_the_same_rules(tmp_path):
    random = np.random.default_rng(0)
    triples = np.unique(random.integers(0, [20, 3, 20], (150, 3)), axis=0).tolist()
    graph = make_graph(tmp_path / "g", triples, entities=20)
    mined = [mine_rules(graph, MiningSettings(rounds=2, seed=s)) for s in (5, 5, 6)]
    assert as_dict(mined[0].rules) == as_dict(mined[1].rules)
    assert mined[0].samples == mined[1].samples > 0
    assert (mined[0].rules.head == mined[1].rules.head).all()


@pytest.mark.parametrize(
    ("triples", "relations"),
    [
        ([], 1),
        ([(0, 0, 0), (1, 0, 1)], 1),
        ([(0, 0, 1), (1, 0, 2)], 1),
        ([(0, 0, 1), (0, 0, 1)], 2),
    ],
    ids=["empty", "self-loops", "one relation of two triples", "duplicates"],
)
def test_tiny_graphs_are_mined(tmp_path, triples, relations):
    graph = make_graph(tmp_path / "g", triples, entities=4, relations=relations)
    mined = mine_rules(graph, MiningSettings(minutes=0.001))
    expected = naive_rules(triples, 4, relations, min_support=2)
    rules = mined.rules.take(mined.rules.length > 0)
    assert as_dict(rules).keys() <= expected.keys()


def test_no_minutes_make_no_rounds(tmp_path):
    graph = make_graph(tmp_path / "g", [(0, 0, 1), (1, 1, 2), (0, 1, 2)])
    mined = mine_rules(graph, MiningSettings(minutes=0))
    assert (mined.rounds, mined.samples) == (0, 0)


def test_other_splits_are_not_seen(tmp_path):
    rows = [(0, 0, i) for i in range(1, 5)] + [(i, 1, 0) for i in range(1, 5)]
    graph = make_graph(tmp_path / "g", rows)
    from kgraft.graph import split_graph

    split_graph(graph, tmp_path / "s", valid=0.3, test=0.3, seed=1)
    parts = type(graph).open(tmp_path / "s")
    mined = mine_rules(parts, MiningSettings(rounds=0, min_support=1))
    train = make_edges(parts.split("train").triples, len(parts), len(parts.relations))
    plain = mined.rules.take(mined.rules.length == 0)
    assert plain.support.sum() == len(train.target)


def test_a_body_is_counted_on_a_sample(tmp_path):
    random = np.random.default_rng(1)
    triples = np.unique(random.integers(0, [200, 2, 200], (3000, 3)), axis=0).tolist()
    graph = make_graph(tmp_path / "g", triples, entities=200, relations=2)
    edges = make_edges(graph.triples, 200, 2)
    bodies, heads = np.array([[0, 1, -1]], np.int32), np.array([0])
    bounds = np.array([0, 1])
    full = count_bodies(edges, bodies, bounds, heads, (10**9, 0.0))
    part = count_bodies(edges, bodies, bounds, heads, (5000, 0.0))
    assert part.sampled.all()
    assert not full.sampled.any()
    assert part.body_count == pytest.approx(full.body_count, rel=0.1)


def test_bodies_read_backwards_say_the_same():
    body = np.array([[0, 1, -1], [2, 3, 1], [1, -1, -1]], np.int32)
    assert reverse_bodies(body, 2).tolist() == [[3, 2, -1], [3, 1, 0], [3, -1, -1]]
    assert (reverse_bodies(reverse_bodies(body, 2), 2) == body).all()
    head, turned = one_direction(np.array([0, 0, 0]), body, 2)
    none, counts = np.full(3, -1, np.int32), np.zeros(3, np.int64)
    rules = RuleSet(head, none, turned, none, counts, counts, counts > 0)
    assert (forward(rules, 2).body == body).all()


def test_the_best_long_paths_are_kept():
    head, support = np.array([0, 0, 0, 1, 0]), np.array([3, 9, 5, 1, 2])
    body = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0], [1, 1, -1]], np.int32)
    none, counts = np.full(5, -1, np.int32), np.full(5, 10)
    rules = RuleSet(head, none, body, none, support, counts, counts < 0).sorted()
    kept = best_long_paths(rules, 2)
    assert sorted(kept.support.tolist()) == [1, 2, 5, 9]


def test_too_many_relations_are_refused():
    from types import SimpleNamespace

    with pytest.raises(BadInput, match="100,000"):
        check_sizes(SimpleNamespace(relations=100_000))
