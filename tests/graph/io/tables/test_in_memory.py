import networkx as nx
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph import Graph, build_graph
from kgraft.graph.io.readers.parquet import parquet_source
from kgraft.graph.io.tables import in_memory as tables
from kgraft.graph.io.tables.in_memory import TablesSource, from_networkx

ROWS = [("a", "r", "b", "train"), ("b", "r", "c", "test"), ("c", "s", "a", "train")]
NAMES = ["head", "relation", "tail", "split"]
TABLE = pa.table([list(column) for column in zip(*ROWS, strict=True)], names=NAMES)
ENTITIES = {
    "id": ["a", "b", "c"],
    "label": ["A", "B", None],
    "aliases": [["x", "y"], [], None],
    "size": [1, 2, 3],
}


@pytest.mark.parametrize(
    "triples",
    [
        TABLE,
        TABLE.to_pandas(),
        TABLE.to_pandas().set_index(pd.Index([7, 8, 9])),
        TABLE.to_batches()[0],
        ROWS,
        TABLE.to_pylist(),
        TABLE.cast(pa.schema([(n, pa.dictionary(pa.int32(), pa.string())) for n in NAMES])),
    ],
    ids=["arrow", "pandas", "indexed", "batch", "tuples", "mappings", "dictionary"],
)
def test_triples_of_every_kind(collect, triples):
    source = TablesSource(triples)
    assert sorted(collect(source).triples) == sorted(ROWS)
    assert source.unknown == "add"


def test_split_may_be_left_out_or_empty(collect):
    assert collect(TablesSource([("a", "r", "b")])).triples == [("a", "r", "b", "train")]
    triples = [("a", "r", "b", None), ("a", "r", "c", "valid")]
    assert [row[3] for row in collect(TablesSource(triples)).triples] == ["train", "valid"]


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame], ids=["arrow", "pandas"])
def test_entities_and_relations(collect, make):
    source = TablesSource(ROWS, make(ENTITIES), [{"id": "r"}, {"id": "s", "label": "S", "n": 1}])
    got = collect(source)
    assert source.unknown == "add"
    assert TablesSource(ROWS, undeclared="refuse").unknown == "refuse"
    assert got.entities[0] == {"id": "a", "label": "A", "aliases": ["x", "y"], "size": "1"}
    assert got.entities[2]["aliases"] is None
    assert got.relations[1] == {"id": "s", "label": "S", "n": "1"}
    assert got.lines == [1, 2, 3]


def test_lists_may_be_joined_texts(collect):
    rows = [
        {"id": "a", "aliases": "x|y", "types": "", "name_counts": "3|2|1"},
        {"id": "b", "aliases": None, "types": "t", "name_counts": None},
    ]
    a, b = collect(TablesSource([], rows)).entities
    assert a == {"id": "a", "aliases": ["x", "y"], "types": None, "name_counts": [3, 2, 1]}
    assert b == {"id": "b", "aliases": None, "types": ["t"], "name_counts": None}


def test_numbers_serve_as_ids(collect):
    assert collect(TablesSource([(1, 2, 3)])).triples == [("1", "2", "3", "train")]


def test_blocks(collect, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 2)
    got = collect(TablesSource(ROWS, pa.table(ENTITIES)))
    assert sorted(got.triples) == sorted(ROWS)
    assert got.lines == [1, 2, 3]


def test_missing_columns_are_named_with_those_there_are():
    with pytest.raises(BadInput, match=r"triples need one column 'head'.* x, edge, tail"):
        TablesSource(pa.table({"x": ["a"], "edge": ["r"], "tail": ["b"]}))
    with pytest.raises(BadInput, match="entities need one column 'id'"):
        TablesSource(ROWS, pd.DataFrame({"name": ["a"]}))


@pytest.mark.parametrize(
    "data", [5, "text", [("a", "b")], [1], [{"head": object()}], [(2**80, 1, 1)]]
)
def test_what_is_no_table_is_refused(data):
    with pytest.raises(BadInput, match="triples are not a table"):
        TablesSource(data)


def test_bad_rows_are_refused_with_their_number(collect):
    rows = [("a", "r", "b"), ("a", "r", None), ("a", "", "b"), ("a", "r", "b", "dev")]
    with pytest.raises(BadInput, match="triples:2: empty field"):
        collect(TablesSource(rows))
    got = collect(TablesSource(rows), skip=True)
    assert got.triples == [("a", "r", "b", "train")]
    assert got.refused == {"empty field": 2, "unknown split": 1}


def test_a_column_that_is_no_text_is_named(collect):
    entities = pa.table({"id": ["a"], "place": [{"lat": 1}]})
    with pytest.raises(BadInput, match="column 'place' of the entities"):
        collect(TablesSource(ROWS, entities))
    with pytest.raises(BadInput, match="column 'name_counts'"):
        collect(TablesSource(ROWS, [{"id": "a", "name_counts": "many"}]))


def test_parquet_folders(tmp_path, collect):
    pq.write_table(TABLE, tmp_path / "triples.parquet")
    source = parquet_source(tmp_path)
    assert (source.unknown, source.describe()) == ("add", tmp_path.name)
    pq.write_table(pa.table(ENTITIES), tmp_path / "entities.parquet")
    got = collect(parquet_source(tmp_path))
    assert len(got.entities) == 3
    assert sorted(got.triples) == sorted(ROWS)
    (tmp_path / "triples.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadInput, match=r"triples\.parquet: cannot be read as Parquet"):
        parquet_source(tmp_path)


def test_parquet_folders_of_nodes_and_edges(tmp_path, collect):
    pq.write_table(pa.table({"source": [1], "target": [2]}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"id": [1, 2], "name": ["Ann", "Bob"]}), tmp_path / "nodes.parquet")
    got = collect(parquet_source(tmp_path))
    assert [row["label"] for row in got.entities] == ["Ann", "Bob"]
    assert got.triples == [("1", "related to", "2", "train")]


def test_networkx_directed(collect):
    graph = nx.DiGraph(name="g")
    graph.add_node(1, label="One", aliases=["I", "uno"], types=("number",), size=1.5, odd=object())
    graph.add_edge(1, 2, relation="next", split="valid")
    graph.add_edge(2, 1)
    source = from_networkx(graph)
    got = collect(source)
    assert source.describe() == "g"
    assert got.entities[0]["aliases"] == ["I", "uno"]
    assert got.entities[0]["types"] == ["number"]
    assert got.entities[0]["size"] == "1.5"
    assert "odd" not in got.entities[0]
    assert got.entities[1]["id"] == "2"
    assert got.triples == [("2", "related to", "1", "train"), ("1", "next", "2", "valid")]


def test_networkx_undirected_edges_hold_both_ways(collect):
    graph = nx.Graph([("a", "b"), ("a", "a")])
    assert sorted(collect(from_networkx(graph)).triples) == [
        ("a", "related to", "a", "train"),
        ("a", "related to", "b", "train"),
        ("b", "related to", "a", "train"),
    ]


def test_networkx_keys_of_multigraphs_are_relations(collect):
    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", key="knows")
    graph.add_edge("a", "b", key="likes", relation="loves")
    graph.add_edge("a", "b")
    relations = [triple[1] for triple in collect(from_networkx(graph)).triples]
    assert relations == ["knows", "loves", "related to"]


CELL = st.none() | st.text() | st.integers() | st.floats() | st.booleans() | st.lists(st.text())


@given(
    st.lists(
        st.tuples(CELL, CELL, CELL) | st.dictionaries(st.sampled_from(NAMES), CELL), max_size=4
    ),
    st.lists(
        st.dictionaries(st.sampled_from(["id", "aliases", "name_counts", "x"]), CELL), max_size=3
    ),
)
def test_any_rows_are_read_or_refused(collect, triples, entities):
    try:
        got = collect(TablesSource(triples, entities), skip=True)
    except BadInput:
        return
    assert len(got.triples) + got.refused.total() == len(triples)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame], ids=["arrow", "pandas"])
def test_names_of_other_programs(collect, make):
    edges = {"Source": ["a", "b"], "Target": ["b", "a"], "Label": ["knows", None], "Weight": [1, 2]}
    nodes = {"Id": ["a", "b"], "name": ["Ann", None], "synonyms": ["A|Annie", None], "kind": [1, 2]}
    got = collect(TablesSource(make(edges), make(nodes), name="mine"))
    assert [t[:3] for t in got.triples] == [("a", "knows", "b"), ("b", "related to", "a")]
    assert (got.entities[0]["label"], got.entities[0]["aliases"]) == ("Ann", ["A", "Annie"])
    assert [row["types"] for row in got.entities] == [["1"], ["2"]]
    assert got.left_out == {"values of the column 'Weight' of triples": 2}
    assert "mine: column 'name' read as label" in got.notes
    rows = [{"from": "a", "to": "b"}, {"from": "b", "to": "c", "rel": "r"}]
    triples = [t[:3] for t in collect(TablesSource(rows[1:])).triples]
    assert triples == [("b", "r", "c")]


def test_a_column_of_octets_is_left_out_and_noted(tmp_path):
    entities = pa.table({"id": ["a"], "shape": pa.array([b"\xff\x00"], pa.binary())})
    manifest = build_graph(TablesSource(None, entities), tmp_path / "g")
    assert any("'shape'" in note for note in manifest.notes)
    assert "shape" not in Graph.open(tmp_path / "g").entities.column_names
