"""Queries of two patterns over Wikidata's graph: ours over DuckDB on the same Parquet file.

    make bench-graph.query

Both return the ids of all rows as an Arrow table, which are compared before anything is timed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.data.texts import open_graph
from benchmarks.harness import RESULTS, Benchmark, Goal, Run, shared_data, turns
from kgraft.errors import import_optional
from kgraft.graph import Graph, export_graph
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="graph_query",
    measures="queries of two patterns over Wikidata, against DuckDB on the same Parquet file",
    minutes=2,
    data=("graphs/wikidata",),
)

REPEATS = 21
Pattern = tuple[str, str, str]
QUERIES: dict[str, tuple[Pattern, Pattern]] = {
    "path": (("?x", "P17", "?y"), ("?y", "P47", "?z")),
    "chain": (("?x", "P131", "?y"), ("?y", "P17", "?z")),
    "star": (("?x", "P106", "?y"), ("?x", "P27", "?z")),
    "shared_tail": (("?x", "P19", "?y"), ("?z", "P20", "?y")),
    "from_entity": (("?x", "P17", "Q183"), ("?x", "P190", "?y")),
    "any_relation": (("?x", "P36", "?y"), ("?y", "?how", "?z")),
}
GOALS: dict[str, Goal] = {"query_vs_duckdb": {"at_most": 2}}

PROTOCOL = f"""
Two-pattern joins on the graph of Wikidata. Ours: `graph.query(patterns).table()`, from the text of
the patterns to the ids of all rows as an Arrow table, on the opened graph, whose orders of triples
were made by the round that is not counted. DuckDB: the same join in SQL on the Parquet file that
the graph is exported as, the file read by every query, to an Arrow table, with the threads that it
chooses. query_vs_duckdb_memory: the same, the file loaded into a table of DuckDB before. The rows
are compared as sorted lists first. Medians of {REPEATS} rounds in turns; query_vs_duckdb is the sum
of our medians over the sum of DuckDB's, and NAME_vs_duckdb the ratio of one query.
"""


def sql_of(patterns: tuple[Pattern, Pattern], table: str) -> str:
    """Return two patterns as a SELECT of all variables from a table of triples.

    >>> print(sql_of((("?x", "P17", "?y"), ("?y", "P36", "?z")), "t"))
    SELECT a.head AS x, a.tail AS y, b.tail AS z FROM t a, t b
    WHERE a.relation = 'P17' AND b.head = a.tail AND b.relation = 'P36'
    """
    columns: dict[str, str] = {}
    conditions = []
    for alias, pattern in zip("ab", patterns, strict=True):
        for part, term in zip(("head", "relation", "tail"), pattern, strict=True):
            column = f"{alias}.{part}"
            if not term.startswith("?"):
                conditions.append(f"{column} = '{term}'")
            elif term[1:] in columns:
                conditions.append(f"{column} = {columns[term[1:]]}")
            else:
                columns[term[1:]] = column
    chosen = ", ".join(f"{column} AS {name}" for name, column in columns.items())
    return f"SELECT {chosen} FROM {table} a, {table} b\nWHERE {' AND '.join(conditions)}"


def text_of(patterns: tuple[Pattern, Pattern]) -> str:
    """Return patterns as the command line takes them."""
    return " . ".join(" ".join(pattern) for pattern in patterns)


def same_rows(ours: pa.Table, theirs: pa.Table) -> bool:
    """Tell whether two tables hold the same rows, in any order."""
    names = ours.column_names
    keys = [(name, "ascending") for name in names]
    tables = (table.select(names).sort_by(keys) for table in (ours, theirs))
    columns = [
        [table[name].cast(pa.string()).combine_chunks() for name in names] for table in tables
    ]
    return all(a.equals(b) for a, b in zip(*columns, strict=True))


def measure(run: Run, graph: Graph, parquet: Path, repeats: int = REPEATS) -> None:
    """Compare and time all queries, and record their figures."""
    duckdb = import_optional("duckdb", "bench").connect()
    duckdb.execute(f"CREATE TABLE triples AS SELECT head, relation, tail FROM '{parquet}'")
    totals = [[0.0] * repeats for _ in range(3)]
    for name, patterns in QUERIES.items():
        paths = [
            _ask(graph, text_of(patterns)),
            _fetch(duckdb, sql_of(patterns, f"'{parquet}'")),
            _fetch(duckdb, sql_of(patterns, "triples")),
        ]
        ours, theirs, loaded = (path() for path in paths)
        if not (same_rows(ours, theirs) and same_rows(ours, loaded)):
            raise ValueError(f"{name}: the rows differ: {len(ours)} and {len(theirs)}")
        times = turns(*paths, repeats=repeats)
        run.ratio(f"{name}_vs_duckdb", times[0], times[1])
        run.figure(f"{name}_rows", len(ours))
        totals = [
            [a + b for a, b in zip(*pair, strict=True)] for pair in zip(totals, times, strict=True)
        ]
    run.ratio("query_vs_duckdb", totals[0], totals[1])
    run.ratio("query_vs_duckdb_memory", totals[0], totals[2])
    run.figure("query_ms", [1000 * total / len(QUERIES) for total in totals[0]])


def _ask(graph: Graph, text: str) -> Callable[[], pa.Table]:
    return lambda: graph.query(text).table()


def _fetch(duckdb: Any, sql: str) -> Callable[[], pa.Table]:  # noqa: ANN401
    return lambda: duckdb.sql(sql).to_arrow_table()


def main() -> None:
    """Export the graph, measure, and write the result."""
    folder = shared_data()
    if folder is None:
        sys.exit(0)
    graph = open_graph("wikidata", folder)
    with tempfile.TemporaryDirectory() as temporary:
        export_graph(graph, Path(temporary) / "wikidata", format="parquet")
        parquet = Path(temporary) / "wikidata" / "triples.parquet"
        data = {
            "name": f"graphs/wikidata, {len(graph.triples):,} triples",
            "sha256": sha256(parquet),
        }
        with BENCHMARK.run(PROTOCOL, data, [], GOALS, RESULTS) as run:
            measure(run, graph, parquet)


if __name__ == "__main__":
    main()
