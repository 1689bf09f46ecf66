"""Queries: patterns as people write them, and joins as a plain loop makes them."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Graph, joins
from kgraft.graph import query as query_module
from kgraft.graph.query import parse_patterns


def rows_of(solutions):
    """Return the rows of solutions as a sorted list of ids, in the order of the variables."""
    return sorted(tuple(part.id for part in row.values()) for row in solutions)


def test_patterns_are_separated_by_a_dot_that_stands_alone():
    text = """?x capital_of ?y . ?y 'has "quotes"' "St. Kilda" . <http://a.b/c> r d.e ."""
    assert parse_patterns(text) == [
        ("?x", "capital_of", "?y"),
        ("?y", ' has "quotes"', " St. Kilda"),
        ("<http://a.b/c>", "r", "d.e"),
    ]


def test_two_patterns_are_joined(small):
    found = small.query("?x 'capital of' ?y . ?y borders Germany")
    assert found.variables == ["x", "y"]
    assert rows_of(found) == [("Q1", "Q4")]
    assert found[0]["x"].label == "Paris"
    assert found[-1] == found[0]
    assert found.table().to_pylist() == [{"x": "Q1", "y": "Q4"}]


def test_relations_may_be_variables(small):
    assert rows_of(small.query("Q1 ?how ?what")) == [("P131", "Q4"), ("P36", "Q4")]
    assert rows_of(small.query([("Q1", "?how", small.entity("Q4"))])) == [("P131",), ("P36",)]


def test_a_variable_used_twice_is_the_same_thing(make_graph, tmp_path):
    graph = make_graph(tmp_path, [("a", "r", "a"), ("a", "r", "b"), ("b", "s", "a")])
    assert rows_of(graph.query("?x r ?x")) == [("a",)]
    assert rows_of(graph.query("?x r ?y . ?y s ?x")) == [("a", "b")]


def test_a_pattern_without_variables_must_hold(small):
    assert len(small.query("?x P36 Q4 . Q4 P47 Q5")) == 1
    assert len(small.query("?x P36 Q4 . Q4 P47 Q1")) == 0


def test_patterns_that_share_nothing_make_all_pairs(small):
    assert len(small.query("?x P36 ?y . ?a P47 ?b")) == 6


def test_a_triple_of_two_splits_is_found_once(make_graph, tmp_path):
    graph = make_graph(tmp_path, [("a", "r", "b", "train"), ("a", "r", "b", "test")])
    assert rows_of(graph.query("?x r ?y")) == [("a", "b")]


def test_a_split_is_queried_alone(small):
    assert rows_of(small.split("test").query("?x ?r ?y")) == [("Q11", "P131", "Q4")]


def test_a_name_of_several_entities_is_told(small):
    found = small.query("Paris P36 ?y")
    assert [entity.id for entity in found.meant.values()] == ["Q1"]
    assert not small.query("Berlin P36 ?y").meant


def test_the_limit(small):
    found = small.query("?x ?r ?y", limit=5)
    assert (len(found), len(found.head(2)), len(small.query("?x ?r ?y"))) == (5, 2, 12)
    with pytest.raises(IndexError):
        found[5]


@pytest.mark.slow
@pytest.mark.parametrize(
    "patterns",
    ["", " . ", "?x P36", "?x P36 ?y ?z", "?x P36 'no end", "Q1 P36 Q4", "?x ?x ?y", "?-a P36 ?y"],
)
def test_what_is_no_query_is_refused(small, patterns):
    with pytest.raises(BadInput):
        small.query(patterns)


@pytest.mark.parametrize("patterns", ["?x P99 ?y", "?x P36 Atlantis"])
def test_what_is_not_in_the_graph_is_named(small, patterns):
    with pytest.raises(NotFound, match=r"P99|Atlantis"):
        small.query(patterns)


def test_a_relation_cannot_be_an_end(small):
    with pytest.raises(BadInput, match="capital of"):
        small.query([(small.relation("P36"), "P36", "?x")])
    with pytest.raises(BadInput, match="limit"):
        small.query("?x P36 ?y", limit=-1)


def test_a_join_that_grows_too_large_is_refused(small, monkeypatch):
    monkeypatch.setattr(query_module, "MOST_ROWS", 20)
    with pytest.raises(BadInput, match="144"):
        small.query("?a ?r ?b . ?c ?s ?d")
    assert len(small.query("?a ?r ?b")) == 12


NAMES = [*"abcd"]
LINKS = [*"rs"]
TERM = st.sampled_from([*NAMES, "?x", "?y", "?z"])
LINK = st.sampled_from([*LINKS, "?p"])
TRIPLE = st.tuples(st.sampled_from(NAMES), st.sampled_from(LINKS), st.sampled_from(NAMES))


def naive_join(triples, patterns):
    """Extend every binding by every triple that fits, pattern by pattern."""
    bindings = [{}]
    for pattern in patterns:
        extended = []
        for binding in bindings:
            for triple in triples:
                new = dict(binding)
                if all(
                    new.setdefault(term, part) == part if term.startswith("?") else term == part
                    for term, part in zip(pattern, triple, strict=True)
                ):
                    extended.append(new)
        bindings = extended
    return bindings


@pytest.mark.slow
@given(
    st.sets(TRIPLE, min_size=1, max_size=12),
    st.lists(st.tuples(TERM, LINK, TERM), min_size=1, max_size=3),
)
@settings(max_examples=at_most(100))
def test_joins_are_those_of_a_plain_loop(make_graph, triples, patterns):
    variables = [t[1:] for t in dict.fromkeys(t for p in patterns for t in p) if t[0] == "?"]
    declared = [{"id": name} for name in NAMES]
    with tempfile.TemporaryDirectory() as folder:
        links = [{"id": name} for name in LINKS]
        graph = make_graph(Path(folder), sorted(triples), declared, links)
        if not variables:
            with pytest.raises(BadInput):
                graph.query(patterns)
            return
        found = graph.query(patterns)
        assert found.variables == variables
        expected = naive_join(triples, patterns)
        assert rows_of(found) == sorted(tuple(b[f"?{v}"] for v in variables) for b in expected)


@given(st.lists(st.integers(0, 4), max_size=8), st.lists(st.integers(0, 4), max_size=8))
def test_keys_are_matched_as_by_a_plain_loop(left, right):
    import numpy as np

    found = joins._match(np.array(left, np.int64), np.array(right, np.int64), 1000)
    pairs = sorted(zip(*(rows.tolist() for rows in found), strict=True))
    expected = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
    assert pairs == expected


def test_large_keys_of_several_columns_are_told_apart():
    import numpy as np

    big = (1 << 31) - 1
    left = [np.array([big, big, 0]), np.array([big, 1, 0]), np.array([5, 5, 5])]
    right = [np.array([big, 0]), np.array([big, 0]), np.array([5, 6])]
    first, second = joins._keys(list(zip(left, right, strict=True)))
    assert (first[:, None] == second).tolist() == [[True, False], [False, False], [False, False]]


def test_the_built_in_graph_answers():
    found = Graph.open("world").query("?x capital_of ?y . ?y borders Germany . ?y borders Italy")
    assert sorted(row["x"].label for row in found) == ["Bern", "Paris", "Vienna"]
