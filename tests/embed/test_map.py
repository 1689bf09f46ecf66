"""Where entities stand on a map, and which group they belong to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.embed.map import group_entities, project_vectors
from kgraft.graph import Graph, TablesSource, build_graph

TYPES = ["a", "b", "c", "d"]


def build(place, types, triples):
    entities = [{"id": f"e{i}", "label": f"E{i}", "types": t} for i, t in enumerate(types)]
    relations = [{"id": f"r{i}", "label": f"R{i}"} for i in range(3)]
    build_graph(TablesSource(triples, entities, relations), place)
    return Graph.open(place)


# Places


def test_near_vectors_have_near_places():
    random = np.random.default_rng(0)
    middles = random.normal(size=(3, 16))
    cluster = np.repeat(np.arange(3), 20)
    vectors = middles[cluster] + random.normal(size=(60, 16)) * 0.1
    lengths = random.uniform(0.1, 10, (60, 1))  # only directions count
    places = project_vectors(vectors * lengths)
    away = np.linalg.norm(places[:, None] - places[None], axis=-1)
    np.fill_diagonal(away, np.inf)
    assert (cluster[away.argmin(1)] == cluster).all()


def test_the_same_seed_gives_the_same_map_lying_level():
    vectors = np.random.default_rng(0).normal(size=(30, 5))
    places = project_vectors(vectors, seed=3)
    assert (places == project_vectors(vectors, seed=3)).all()
    covariance = np.cov(places.T)
    assert covariance[0, 0] >= covariance[1, 1]
    assert covariance[0, 1] == pytest.approx(0, abs=1e-3 * covariance[0, 0])


@pytest.mark.parametrize("count", [1, 2, 7, 8])
@pytest.mark.parametrize("size", [1, 6])
def test_any_number_and_size_of_vectors_can_be_placed(count, size):
    vectors = np.random.default_rng(0).normal(size=(count, size)).astype(np.float32)
    places = project_vectors(vectors)
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_and_zero_vectors_can_be_placed(value):
    assert np.isfinite(project_vectors(np.full((12, 4), value))).all()


# Groups


def naive_types(types, most):
    """Again and again, the type that most entities without a group have gets its group."""
    group, chosen = [None] * len(types), []
    kinds = sorted({t for some in types for t in some})
    telling = [t for t in kinds if not all(t in some for some in types) or len(kinds) == 1]
    while len(chosen) < most:
        free = {t: sum(t in some and g is None for some, g in zip(types, group, strict=True))
                for t in telling}  # fmt: skip
        best = max(free, key=free.get, default=None)
        if not best or not free[best]:
            break
        chosen.append(best)
        for i, some in enumerate(types):
            group[i] = group[i] or (best if best in some else None)
    return group


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from(TYPES), unique=True), min_size=1, max_size=12),
       st.integers(1, 5), st.randoms())  # fmt: skip
def test_types_are_grouped_as_by_a_naive_loop(tmp_path_factory, types, most, random):
    types = [*types, ["a"]]  # with none at all, relations are looked at
    graph = build(tmp_path_factory.mktemp("g") / "graph", types, [("e0", "r0", "e0")])
    entities = list(range(len(types)))
    random.shuffle(entities)
    groups = group_entities(graph, np.array(entities), most=most)
    names = [*groups.names, None]
    assert groups.kind == "type"
    assert [names[g] for g in groups.group] == naive_types([types[e] for e in entities], most)
    sizes = np.bincount(groups.group[groups.group >= 0], minlength=len(groups.names)).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert all(sizes)


def test_a_type_that_all_have_tells_nothing(tmp_path):
    graph = build(tmp_path / "g", [["thing"], ["place", "thing"], ["thing"]], [])
    groups = group_entities(graph, np.arange(3), most=8)
    assert (groups.names, groups.group.tolist()) == (["place"], [-1, 0, -1])


def test_without_types_the_main_relation_makes_the_group(tmp_path):
    triples = [
        ("e0", "r0", "e1"),
        ("e0", "r1", "e2"),
        ("e0", "r1", "e3"),
        ("e2", "r2", "e3"),
        ("e3", "r2", "e1"),
    ]
    graph = build(tmp_path / "g", [[]] * 5, triples)
    groups = group_entities(graph, np.array([4, 3, 2, 1, 0]), most=8)
    found = [None if g < 0 else groups.names[g] for g in groups.group]
    assert groups.kind == "relation"
    assert found == [None, "R2", "R1", "R0", "R1"]  # e1 and e2 have two alike: the first is taken
    assert groups.names[0] == "R1"


def test_a_graph_without_types_and_triples_has_no_groups(tmp_path):
    graph = build(tmp_path / "g", [[]] * 3, [])
    groups = group_entities(graph, np.arange(3), most=8)
    assert (groups.names, groups.group.tolist()) == ([], [-1, -1, -1])
