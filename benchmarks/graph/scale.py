"""A graph of the size of Wikidata5M: importing, opening, sampling, finding names in text.

    make bench-graph.scale

Every stage runs in a process of its own, so that peaks of memory and first looks are honest.
KGRAFT_SCALE=0.01 makes everything smaller, for a trial.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data.synthetic_graph import SyntheticNames, write_synthetic
from benchmarks.harness import RESULTS, Benchmark, Goal
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="graph_scale",
    measures="import, open, sample and find names in a graph of the size of Wikidata5M",
    minutes=2,
)

SCALE = float(os.environ.get("KGRAFT_SCALE", "1"))
ENTITIES, RELATIONS, TRIPLES = int(4_600_000 * SCALE), 822, int(20_600_000 * SCALE)
ALIASES = int(1_000_000 * SCALE)
TEXT = int(8_000_000 * min(1, SCALE * 10))  # characters
ROOTS, FAN_OUT, REPEATS = 1024, (10, 10), 15
SEED = 0

PROTOCOL = f"""
Synthetic graph: {ENTITIES:,} entities, {RELATIONS} relations, {TRIPLES:,} triples, tails and
relations skewed as 1/rank, names of one to three words with collisions. import: `build_graph` from
TSV files in a fresh process, wall clock and peak resident memory. open: in a fresh process, from
`Graph.open` to the first entity by id, its neighbours, an entity by name and the mentions of one
sentence; growth of resident memory over the imported package. sample_vs_gather: two hops, fan-out
10 × 10, both directions, {ROOTS:,} roots, over `array[index]` of as many random elements of the
array of neighbours, medians of {REPEATS} interleaved repeats. alias: {ALIASES:,} different names,
leftmost-longest over {TEXT:,} characters of text in which one word in five belongs to a name; load
is opening the graph and finding the names of one sentence in a fresh process.
alias_vs_daachorse: our characters per second over those of daachorse's leftmost-longest automaton
of the same folded names on the folded text, without word boundaries, in the same process.
"""

Measured = dict[str, Any]  # what a stage prints as JSON: numbers and lists of numbers

GOALS: dict[str, Goal] = {
    "import_minutes": {"at_most": 1.5},
    "import_peak_gb": {"at_most": 4},
    "open_seconds": {"at_most": 0.5},
    "open_rss_mb": {"at_most": 300},
    "sample_vs_gather": {"at_most": 5},
    "alias_mb_per_second": {"at_least": 4},
    "alias_load_seconds": {"at_most": 1},
}


def stage_import(work: Path) -> Measured:
    """Import the big graph."""
    from kgraft.graph import build_graph, open_source

    began = time.perf_counter()
    build_graph(open_source(work / "source"), work / "graph")
    minutes = (time.perf_counter() - began) / 60
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {"import_minutes": minutes, "import_peak_gb": peak}


def stage_open(work: Path) -> Measured:
    """Open the big graph and look at one thing of each kind."""
    from kgraft.graph import Graph

    before, began = _resident(), time.perf_counter()
    graph = Graph.open(work / "graph")
    entity = graph.entity(f"Q{ENTITIES // 2}")
    graph.neighbours(entity, limit=10)
    graph.find(entity.label)
    graph.mentions(f"and then {entity.label} came")
    seconds = time.perf_counter() - began
    return {"open_seconds": seconds, "open_rss_mb": (_resident() - before) / 1e6}


def stage_sample(work: Path) -> Measured:
    """Sample neighbourhoods, and gather as many elements bare."""
    from kgraft.graph import Graph, sample_neighbourhood

    adjacency = Graph.open(work / "graph").adjacency
    random = np.random.default_rng(SEED)
    others = np.ascontiguousarray(adjacency.edges[:, 1])
    sampling, gathering = [], []
    for seed in range(REPEATS + 3):
        roots = random.integers(0, adjacency.entities, ROOTS)
        seconds, hops = _timed(sample_neighbourhood, adjacency, roots, FAN_OUT, seed=seed)
        index = random.integers(0, len(others), sum(len(hop.target) for hop in hops))
        sampling.append(seconds)
        gathering.append(_timed(others.__getitem__, index)[0])
    return {"sampling": sampling[3:], "gathering": gathering[3:]}


def stage_alias(work: Path) -> Measured:
    """Find names in text, by our aliases and by daachorse."""
    import daachorse

    from kgraft.graph import Graph

    graph = Graph.open(work / "names")
    text = (work / "text.txt").read_text("utf-8")
    graph.aliases.find(text[:1000])
    ours = [_timed(graph.aliases.find, text)[0] for _ in range(5)]
    keys = [graph.aliases.keys[row] for row in range(len(graph.aliases))]
    automaton = daachorse.CharwiseDoubleArrayAhoCorasick(
        keys, daachorse.MATCH_KIND_LEFTMOST_LONGEST
    )
    folded = text.lower()
    peer = [_timed(automaton.find, folded)[0] for _ in range(5)]
    megabytes = len(text.encode()) / 1e6
    return {"ours": [megabytes / s for s in ours], "peer": [megabytes / s for s in peer]}


def stage_alias_load(work: Path) -> Measured:
    """Open the graph of names and find the names of one sentence."""
    from kgraft.graph import Graph

    seconds, _ = _timed(lambda: Graph.open(work / "names").mentions("Gana tulirene came."))
    return {"alias_load_seconds": seconds}


def _timed(work: Callable[..., Any], *given: object, **options: object) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work(*given, **options)
    return time.perf_counter() - began, result


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def prepare(work: Path) -> None:
    """Write the sources: the big graph, a graph of names, and a text."""
    from kgraft.graph import TablesSource, build_graph

    write_synthetic(
        work / "source", entities=ENTITIES, relations=RELATIONS, triples=TRIPLES, seed=SEED
    )
    made = SyntheticNames(SEED)
    names = pc.unique(made.phrases(ALIASES * 3 // 2, 1, 3, names=True))[:ALIASES]
    ids = pa.array(np.arange(ALIASES)).cast(pa.string())
    build_graph(TablesSource(entities=pa.table({"id": ids, "label": names})), work / "names")
    (work / "text.txt").write_text(made.text(TEXT, names), "utf-8")


def _checksum(work: Path) -> str:
    """Return one checksum over the files that were written."""
    files = [*sorted((work / "source").iterdir()), work / "text.txt"]
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def run_stage(name: str, work: Path) -> Measured:
    """Run one stage in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.graph.scale", name, str(work)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: Measured = json.loads(output)
    print(f"{name}: {output.strip()[:200]}", file=sys.stderr)
    return result


def main() -> None:
    """Run all stages and write the result."""
    data = {"name": f"synthetic, by benchmarks/data/synthetic_graph.py with seed {SEED}"}
    folder = RESULTS if SCALE == 1 else Path(tempfile.gettempdir())
    with (
        tempfile.TemporaryDirectory() as temporary,
        BENCHMARK.run(PROTOCOL, data, [SEED], GOALS, folder) as run,
    ):
        work = Path(temporary)
        prepare(work)
        data["sha256"] = _checksum(work)
        for stage in ("import", "open"):
            for name, value in run_stage(stage, work).items():
                run.figure(name, value)
        sample = run_stage("sample", work)
        ratios = np.divide(sample["sampling"], sample["gathering"])
        median = np.median(sample["sampling"]) / np.median(sample["gathering"])
        run.figure("sample_vs_gather", ratios.tolist(), value=float(median))
        alias = run_stage("alias", work)
        run.figure("alias_mb_per_second", alias["ours"])
        pairs = np.divide(alias["ours"], alias["peer"])
        run.figure("alias_vs_daachorse", pairs.tolist())
        run.figure("alias_load_seconds", run_stage("alias_load", work)["alias_load_seconds"])


if __name__ == "__main__":
    if len(sys.argv) == 3:
        stage = globals()[f"stage_{sys.argv[1]}"]
        print(json.dumps(stage(Path(sys.argv[2]))))
    else:
        main()
