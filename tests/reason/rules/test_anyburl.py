import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reason.rules.naive import as_dict

from kgraft.errors import BadInput
from kgraft.graph import Graph, Refusals, TablesSource, build_graph
from kgraft.reason import RuleSet, read_anyburl, write_anyburl

IDS = ["e0", "A", "X", "a,b", "f(x)", "100%", "tab\there", " space ", "ü", "a%2Cc"]
RELATIONS = ["r0", "is <= of", "r(2)"]
SIZE = len(RELATIONS)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("g") / "g"
    triples = [(IDS[0], r, IDS[1]) for r in RELATIONS]
    entities = [{"id": name, "label": name} for name in IDS]
    build_graph(TablesSource(triples, entities), folder)
    return Graph.open(folder)


COUNTS = st.tuples(st.integers(0, 50), st.integers(0, 50))
DIRECTED, ENTITY = st.integers(0, 2 * SIZE - 1), st.integers(0, len(IDS) - 1)
BODIES = st.lists(DIRECTED, min_size=1, max_size=3).map(tuple)
PATHS = st.tuples(st.integers(0, SIZE - 1), st.just(-1), BODIES, st.just(-1), COUNTS)
CONSTANTS = st.tuples(DIRECTED, ENTITY, st.tuples(DIRECTED), st.one_of(st.just(-1), ENTITY), COUNTS)
PLAIN = st.tuples(DIRECTED, ENTITY, st.just(()), st.just(-1), COUNTS)


def rule_set(rows):
    rows = {row[:4]: row[4] for row in rows if row[2] != (row[0],) or row[3] != row[1]}
    head, constant, body, end = zip(*rows, strict=True) if rows else ((),) * 4
    padded = [list(b) + [-1] * (3 - len(b)) for b in body]
    support, count = np.array(list(rows.values()), np.int64).reshape(-1, 2).T
    columns = (np.array(c, np.int32) for c in (head, constant))
    return RuleSet(
        *columns,
        np.array(padded, np.int32).reshape(-1, 3),
        np.array(end, np.int32),
        support,
        support + count,
        np.zeros(len(rows), bool),
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.one_of(PATHS, CONSTANTS, PLAIN), max_size=12))
def test_rules_survive_a_round_trip(graph, tmp_path_factory, rows):
    rules = rule_set(rows)
    path = tmp_path_factory.mktemp("r") / "rules.txt"
    write_anyburl(path, rules, graph)
    assert as_dict(read_anyburl(path, graph)) == as_dict(rules)


def test_the_format_is_that_of_anyburl(tmp_path, graph):
    rows = [
        (0, -1, (0, SIZE), -1, (3, 1)),
        (0, 0, (2,), 8, (2, 2)),
        (SIZE, 0, (0,), -1, (1, 1)),
    ]
    write_anyburl(tmp_path / "rules.txt", rule_set(rows), graph)
    lines = (tmp_path / "rules.txt").read_text("utf-8").splitlines()
    assert lines == [
        "4\t3\t0.75\tr0(X,Y) <= r0(X,A), r0(Y,A)",
        "4\t2\t0.5\tr0(X,e0) <= r%282%29(X,ü)",
        "2\t1\t0.5\tr0(e0,Y) <= r0(Y,A)",
    ]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("1\t1\t1.0", "3 columns"),
        ("x\t1\t1.0\tr0(X,Y) <= r0(Y,X)", "'x'"),
        ("1\t2\t1.0\tr0(X,Y) <= r0(Y,X)", "support 2"),
        ("2\t1\t0.5\tr0(X,Y)", "no '<='"),
        ("2\t1\t0.5\tnobody(X,Y) <= r0(Y,X)", "'nobody'"),
        ("2\t1\t0.5\tr0(X,nobody) <= ", "'nobody'"),
        ("2\t1\t0.5\tr0(X,Y) <= r0(X,A), r0(B,Y)", "another form"),
        ("2\t1\t0.5\tr0(X,Y) <= r0(X,Y)", "another form"),
        ("2\t1\t0.5\tr0(X,e0) <= r0(X,e0)", "another form"),
        ("2\t1\t0.5\tr0(X,Y) <= r0(X,A), r0(A,B), r0(B,C), r0(C,Y)", "4 atoms"),
        ("2\t1\t0.5\tr0(X,Y) <= r0 X Y", "not a list"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path, graph, line, value):
    path = tmp_path / "rules.txt"
    path.write_text(f"2\t1\t0.5\tr0(X,Y) <= r0(Y,X)\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_anyburl(path, graph)
    assert error.value.line == 2
    assert value in str(error.value)
    refusals = Refusals(skip=True)
    assert len(read_anyburl(path, graph, refusals=refusals)) == 1
    assert refusals.count == 1
