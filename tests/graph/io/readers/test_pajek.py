"""Pajek's networks, as Pajek, NetworkX, igraph and Infomap write them."""

import io

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph import open_source
from kgraft.graph.io.readers.pajek import PajekSource

NETWORK = """% a comment
*Network people
*Vertices 3
1 "Ann Lee" 0.1 0.2 ellipse
2 Bob
3 "Carl"
*Arcs :1 "knows"
1 2 1.5 c Blue l "likes a lot"
2 1
*Edges
2 3
*Arcslist
3 1 2
"""


@pytest.fixture
def read(tmp_path, collect):
    def read(text, skip=False, name="g.net"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return collect(open_source(tmp_path / name), skip=skip)

    return read


def test_a_network(read):
    got = read(NETWORK)
    assert [(e["id"], e["label"]) for e in got.entities] == [
        ("1", "Ann Lee"),
        ("2", "Bob"),
        ("3", "Carl"),
    ]
    assert [triple[:3] for triple in got.triples] == [
        ("1", "likes a lot", "2"),
        ("2", "knows", "1"),
        ("2", "related to", "3"),
        ("3", "related to", "2"),
        ("3", "related to", "1"),
        ("3", "related to", "2"),
    ]
    assert got.left_out == {"weights of edges": 1}
    assert got.lines == [4, 5, 6]


def test_links_without_sections(read):
    got = read("# source target weight\n1 2\n2 3 0.8\n")
    assert [triple[:3] for triple in got.triples] == [
        ("1", "related to", "2"),
        ("2", "related to", "3"),
    ]


def test_a_matrix(read):
    got = read('*Vertices 2\n1 "a"\n2 "b"\n*Matrix :1 "cites"\n0 1\n0.0 2\n')
    assert [triple[:3] for triple in got.triples] == [("1", "cites", "2"), ("2", "cites", "2")]


def test_a_project_has_one_network(read):
    partition = "*Partition p\n*Vertices 3\n7\n8\n9\n"
    got = read(
        partition + NETWORK + partition + "*Network b\n*Vertices 9\n*Arcs\n8 9\n", name="g.paj"
    )
    assert len(got.entities) == 3
    assert len(got.triples) == 6
    assert got.left_out == {"weights of edges": 1, "partitions": 2, "further networks": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("*Vertices 2\n1 a\n3 b\n", 3),
        ("*Vertices 2\nx a\n", 2),
        ('*Vertices 2\n1 "a\n', 2),
        ("*Vertices 2\n*Arcs\n1\n", 3),
        ("*Vertices 2\n*Edges\n1 0\n", 3),
        ("*Vertices 2\n*Matrix\n1 0 0\n", 3),
        ("*Vertices 1\n*Matrix\n0\n0\n", 4),
        ("a b\n", 1),
        ("\n*Vertices\n", 2),
        ("*Vertices 2\n*Vertices 2\n", 2),
        ("*Vertices 2\n*States\n", 2),
    ],
)
def test_bad_lines_are_told_by_number(read, text, line):
    with pytest.raises(BadInput) as error:
        read(text)
    assert error.value.line == line


def test_bad_lines_are_skipped(read):
    got = read("*Vertices 2\n1 a\n2 b\n*Arcs\n1 3\n1 2\n", skip=True)
    assert [triple[:3] for triple in got.triples] == [("1", "related to", "2")]
    assert got.refused == {"bad line": 1}


def test_a_section_that_is_not_known_cannot_be_skipped(read):
    with pytest.raises(BadInput) as error:
        read("*Vertices 2\n*States\n", skip=True)
    assert error.value.line == 2


NAMES = st.text(st.characters(codec="utf-8", exclude_characters='"\x85\u2028\u2029\r\n*%#')).map(
    lambda text: " ".join(text.split())
)


@settings(deadline=None)
@given(
    names=st.lists(NAMES.filter(bool), min_size=1, max_size=8, unique=True),
    ends=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12),
    directed=st.booleans(),
)
def test_what_networkx_writes_comes_back(tmp_path_factory, collect, names, ends, directed):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[a % len(names)], names[b % len(names)]) for a, b in ends)
    out = io.BytesIO()
    nx.write_pajek(graph, out)
    path = tmp_path_factory.mktemp("pajek") / "g.net"
    path.write_bytes(out.getvalue())
    got = collect(PajekSource(path))
    label = {row["id"]: row["label"] for row in got.entities}
    assert sorted(label.values()) == sorted(names)
    expected = [(a, b) for a, b in graph.edges()]
    if not directed:
        expected += [(b, a) for a, b in graph.edges() if a != b]
    assert sorted((label[h], label[t]) for h, _, t, _ in got.triples) == sorted(expected)
