"""The benchmark of queries: equal rows are asked for of both, and differing ones are noticed."""

import pyarrow as pa
import pytest
from benchmarks.harness import Run

from benchmarks.graph import query
from kgraft.graph import Graph, export_graph


def test_rows_are_compared_in_any_order():
    table = pa.table({"x": ["a", "b"], "y": ["c", "c"]})
    turned = pa.table({"y": ["c", "c"], "x": ["b", "a"]})
    assert query.same_rows(table, turned)
    assert not query.same_rows(table, pa.table({"x": ["a", "a"], "y": ["c", "c"]}))
    assert not query.same_rows(table, table.slice(1))


def test_a_small_run_gives_the_figures(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    queries = {
        "path": (("?x", "capital_of", "?y"), ("?y", "borders", "?z")),
        "any": (("?x", "?how", "country:DE"), ("?x", "?where", "?y")),
    }
    monkeypatch.setattr(query, "QUERIES", queries)
    world = Graph.open("world")
    export_graph(world, tmp_path / "world", format="parquet")
    run = Run("graph_query", "", {}, [], query.GOALS, tmp_path)
    query.measure(run, world, tmp_path / "world" / "triples.parquet", repeats=2)
    assert run.figures["path_rows"] == len(world.query(query.text_of(queries["path"])))
    assert {"query_vs_duckdb", "query_ms"} <= run.figures.keys()
    assert run.result()["goals"] == query.GOALS
