"""How well mined rules complete FB15k-237 and WN18RR, and how that grows with minutes of mining."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import WORK, Benchmark, Run, shared_data
from kgraft.graph import Graph, build_graph, open_source
from kgraft.measure import PROTOCOL, Queries, QueryBatch, rank
from kgraft.reason import MiningSettings, RuleSource, choose_aggregation, mine_rules

BENCHMARK = Benchmark(
    name="reason_rules",
    measures="link prediction by mined rules, against minutes of mining",
    minutes=110,
    data=("graphs/fb15k237", "graphs/wn18rr"),
)

MINUTES = (0.5, 1.0, 2.0, 5.0, 10.0)
GOALS = {"fb15k237": (0.35, 0.52), "wn18rr": (0.50, 0.58)}  # MRR, Hits@10
SETTINGS = {
    "fb15k237": MiningSettings(),
    "wn18rr": MiningSettings(
        min_confidence=0.0001, constant_confidence=0.001, constant_support=2, long_paths=1000
    ),
}


def main() -> None:
    """Mine for some minutes each time, choose on valid, rank test and record."""
    data = shared_data()
    if data is None:
        return
    warm_up()
    graphs = {name: _graph(data / "graphs" / name, WORK / name) for name in GOALS}
    with BENCHMARK.run(
        protocol=f"""{PROTOCOL}: the test split. Rules are mined from the train split; how the rules
        of a relation are put together is chosen on 5,000 triples of the valid split. Minutes are
        those of mining, on all cores, without compilation and that choice; what is always counted
        (rules with constants, paths of two) may take longer than the fewest minutes. The baseline
        answers each query with the most frequent answers of its relation in train.""",
        data={name: graph.manifest.version for name, graph in graphs.items()},
        seeds=[SETTINGS[name].seed for name in GOALS],
        goals={
            f"rules_{name}_{figure}": {"at_least": value}
            for name, values in GOALS.items()
            for figure, value in zip(("mrr", "hits10"), values, strict=True)
        },
    ) as run:
        for name, graph in graphs.items():
            _record_baseline(run, name, graph)
            for minutes in MINUTES:
                _record(run, name, graph, minutes)


def _record(run: Run, name: str, graph: Graph, minutes: float) -> None:
    """Record the figures after some minutes of mining; those of the most have the short names."""
    mined = mine_rules(graph, SETTINGS[name].replace(minutes=minutes))
    source = choose_aggregation(graph, mined.rules)
    began = time.perf_counter()
    figures = _figures(source, graph, "test")
    seconds = time.perf_counter() - began
    suffixes = [f"_{minutes:g}_minutes"] + [""] * (minutes == MINUTES[-1])
    for suffix in suffixes:
        run.figure(f"rules_{name}_mrr{suffix}", round(figures["mrr"], 4))
        run.figure(f"rules_{name}_hits10{suffix}", round(figures["hits10"], 4))
    run.figure(f"rules_{name}_count_{minutes:g}_minutes", len(mined.rules))
    if minutes == MINUTES[-1]:
        valid = _figures(source, graph, "valid")
        run.figure(f"rules_{name}_valid_mrr", round(valid["mrr"], 4))
        run.figure(f"rules_{name}_mining_minutes", round(mined.minutes, 2))
        run.figure(f"rules_{name}_samples", mined.samples)
        run.figure(f"rules_{name}_rank_seconds", round(seconds, 1))
    print(f"{name}, {mined.minutes:.1f} min, {len(mined.rules):,} rules: {figures}", flush=True)


def _figures(source: RuleSource, graph: Graph, split: str) -> dict[str, float]:
    triples = graph.split("test" if split == "test" else "valid").triples
    queries, everything = (
        Queries.of(part, len(graph.relations)) for part in (triples, graph.whole().triples)
    )
    return rank(source.score, queries, everything, entities=len(graph)).figures()


def _record_baseline(run: Run, name: str, graph: Graph) -> None:
    """Record the figures of the most frequent answers of each relation."""
    size = 2 * len(graph.relations)
    _, relation, target = graph.split("train").triples.with_inverses(len(graph.relations))
    counts = np.bincount(relation * len(graph) + target, minlength=size * len(graph))
    frequency = counts.reshape(size, len(graph)).astype(np.float32)

    def score(batch: QueryBatch) -> np.ndarray:
        return frequency[batch.relation]

    queries, everything = (
        Queries.of(part, len(graph.relations))
        for part in (graph.split("test").triples, graph.whole().triples)
    )
    figures = rank(score, queries, everything, entities=len(graph)).figures()
    run.figure(f"frequent_{name}_mrr", round(figures["mrr"], 4))
    run.figure(f"frequent_{name}_hits10", round(figures["hits10"], 4))


def warm_up() -> None:
    """Compile all kernels, on a built-in graph."""
    world = Graph.open("world")
    mined = mine_rules(world, MiningSettings(rounds=1, constant_confidence=0.5, groundings=1000))
    choose_aggregation(world, mined.rules).score(QueryBatch(np.arange(4), np.zeros(4, np.int64)))


def _graph(source: Path, folder: Path) -> Graph:
    if folder.exists():
        shutil.rmtree(folder)
    build_graph(open_source(source), folder, name=source.name)
    return Graph.open(folder)


if __name__ == "__main__":
    main()
