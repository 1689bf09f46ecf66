"""Reading RDF against the bare parser: N-Triples with literals.

make bench-graph.rdf
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.harness import Benchmark, Goal, turns
from kgraft.graph import Refusals, open_source
from kgraft.progress import Silent

BENCHMARK = Benchmark(
    name="graph_rdf",
    measures="reading N-Triples with literals, against the bare parser",
    minutes=1,
)

STATEMENTS = 300_000
REPEATS = 5
SEED = 0
PROTOCOL = f"""
{STATEMENTS:,} statements of N-Triples: half of them links between 50,000 entities by 40 relations,
the others labels with a language, integers, dates and plain strings. rdf_vs_pyoxigraph: statements
per second that the RDF reader turns into batches for the builder, over those that pyoxigraph's
parser yields in a bare loop; medians of {REPEATS}, taking turns, one process.
"""
GOALS: dict[str, Goal] = {"rdf_vs_pyoxigraph": {"at_least": 0.5}}
XSD = "http://www.w3.org/2001/XMLSchema#"


def main() -> None:
    """Write a file, read it both ways, and record."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "statements.nt"
        _write(path)
        with BENCHMARK.run(
            protocol=PROTOCOL,
            data={"name": f"synthetic, {STATEMENTS:,} statements"},
            seeds=[SEED],
            goals=GOALS,
        ) as run:
            bare, ours = turns(lambda: _parse(path), lambda: _read(path), repeats=REPEATS)
            run.ratio("rdf_vs_pyoxigraph", bare, ours)
            run.figure("statements_per_second", round(STATEMENTS / float(np.median(ours))))


def _write(path: Path) -> None:
    random = np.random.default_rng(SEED)
    head, tail = random.integers(0, 50_000, (2, STATEMENTS)).tolist()
    relation, kind = random.integers(0, 40, STATEMENTS).tolist(), random.random(STATEMENTS)
    with path.open("w", encoding="utf-8") as file:
        for h, r, t, share in zip(head, relation, tail, kind.tolist(), strict=True):
            file.write(f"<http://example.org/entity/{h}> {_rest(r, t, share)} .\n")


def _rest(relation: int, tail: int, share: float) -> str:
    """Return predicate and object of one statement."""
    if share < 0.5:
        return f"<http://example.org/relation/{relation}> <http://example.org/entity/{tail}>"
    if share < 0.7:
        return f'<http://www.w3.org/2000/01/rdf-schema#label> "entity number {tail}"@en'
    if share < 0.8:
        return f'<http://example.org/count> "{tail}"^^<{XSD}integer>'
    if share < 0.9:
        return f'<http://example.org/date> "2026-01-{tail % 28 + 1:02}"^^<{XSD}date>'
    return f'<http://example.org/note> "a note on {tail}"'


def _parse(path: Path) -> None:
    from pyoxigraph import RdfFormat, parse

    with path.open("rb") as stream:
        for _ in parse(stream, RdfFormat.N_TRIPLES):
            pass


def _read(path: Path) -> None:
    for _ in open_source(path).batches(Refusals(), Silent()):
        pass


if __name__ == "__main__":
    main()
