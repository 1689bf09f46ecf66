"""Graphviz's DOT: its grammar, its defaults, and files that break its rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph import open_source
from kgraft.graph.io.readers import dot
from kgraft.graph.io.readers.dot import DotSource

GRAPH = r"""/* people
*/
strict digraph "the firm" {
  rankdir = LR  // drawn from the left
  node [shape=box, type=Person]
# a line of the preprocessor
  ann [label="Ann \"A.\"\nLee"]; bob [label=<<b>Bob</b> &amp; Co>]
  "carl" [label="\N the " + "third"]
  ann -> bob -> carl [label=knows]
  subgraph cluster_0 {
    edge [label="works with"]; node [type=Boss]
    ann:port:n -> { dora -1.5 }
  }
  ann [description="a boss"]
}
"""


@pytest.fixture
def read(tmp_path, collect):
    def read(text, skip=False):
        (tmp_path / "g.gv").write_text(text, encoding="utf-8")
        return collect(open_source(tmp_path / "g.gv"), skip=skip)

    return read


def triples(got):
    return [triple[:3] for triple in got.triples]


def test_a_graph(read):
    got = read(GRAPH)
    rows = [(e["id"], e["label"], e["types"], e["description"]) for e in got.entities]
    assert rows == [
        ("ann", 'Ann "A." Lee', ["Person"], "a boss"),
        ("bob", "Bob & Co", ["Person"], None),
        ("carl", "carl the third", ["Person"], None),
        ("dora", None, ["Boss"], None),
        ("-1.5", None, ["Boss"], None),
    ]
    assert triples(got) == [
        ("ann", "knows", "bob"),
        ("bob", "knows", "carl"),
        ("ann", "works with", "dora"),
        ("ann", "works with", "-1.5"),
    ]
    assert got.lines == [7, 7, 8, 12, 12]


def test_an_undirected_graph_holds_both_ways(read):
    assert triples(read("graph { a -- b; c -- c }")) == [
        ("a", "related to", "b"),
        ("b", "related to", "a"),
        ("c", "related to", "c"),
    ]


def test_several_graphs_and_keywords_in_quotes(read):
    got = read("digraph { node -> edge }".replace("node", '"node"').replace("edge", '"edge"'))
    assert triples(got) == [("node", "related to", "edge")]
    assert len(read("digraph { a -> b } graph { a -- c }").triples) == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("digraph {\n a -> \n}", 3),
        ("digraph {\n a -- b }", 2),
        ("graph {\n a -> b }", 2),
        ("digraph {\n a [label=x", 2),
        ("digraph {\n a [label x] }", 2),
        ('digraph {\n\n a [label="never closed] }', 3),
        ("digraph {\n a [label=<b] }", 2),
        ('digraph {\n "" -> b }', 2),
        ("diagram {}", 1),
        ("digraph {\n", 2),
        ("digraph {\n" + "{" * 200, 2),
        ("a %PDF", 1),
    ],
)
def test_a_bad_file_is_told_by_its_line(read, text, line):
    with pytest.raises(BadInput) as error:
        read(text)
    assert error.value.line == line


def test_subgraphs_that_stand_for_too_many_edges(read, monkeypatch):
    monkeypatch.setattr(dot, "MOST", 100)
    many = " ".join(f"n{k}" for k in range(40))
    with pytest.raises(BadInput, match="stand for more than"):
        read(f"digraph {{ {{ {many} }} -> {{ {many} }} }}")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\\"), min_size=1)


@settings(deadline=None)
@given(edges=st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=8), directed=st.booleans())
def test_any_names_in_quotes_come_back(tmp_path_factory, collect, edges, directed):
    def quoted(text):
        return '"' + text.replace('"', '\\"') + '"'

    kind, mark = ("digraph", "->") if directed else ("graph", "--")
    lines = [f"{quoted(h)} {mark} {quoted(t)} [relation={quoted(r)}]" for h, r, t in edges]
    path = tmp_path_factory.mktemp("dot") / "g.dot"
    path.write_bytes(f"{kind} {{ {';'.join(lines)} }}".encode())
    got = collect(DotSource(path))
    assert {row["id"] for row in got.entities} == {end for h, _, t in edges for end in (h, t)}
    both = [(h, t) for h, _, t in edges]
    if not directed:
        both += [(t, h) for h, t in both if h != t]
    assert sorted((h, t) for h, _, t, _ in got.triples) == sorted(both)
