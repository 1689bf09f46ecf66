"""How well a text completer completes WN18RR, against the encoder that it began with.

make bench-reason.text
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.cached import is_current
from benchmarks.harness import WORK, Benchmark, Goal, Run, shared_data
from kgraft.graph import Graph, build_graph, open_source
from kgraft.measure import PROTOCOL as RANKING
from kgraft.measure import Queries, rank
from kgraft.progress import progress_bar
from kgraft.reason import TextCompleter, TextSettings, TextSource, train_text_completer
from kgraft.text import Encoder
from kgraft.training import read_manifest

BENCHMARK = Benchmark(
    name="reason_text",
    measures="completing WN18RR by texts, against the encoder before training",
    minutes=80,
    data=("graphs/wn18rr",),
)

NAME = "wn18rr"
SETTINGS = TextSettings(tokens=32, batch=128, epochs=3, epoch_triples=12_800, rate=1e-4)
PROTOCOL = f"""
{RANKING}: the test split of WN18RR. text: one encoder, all-MiniLM-L6-v2, that reads queries and
entities (label and gloss, 32 tokens), trained on three times 12,800 of the 86,835 train triples,
each asked for its tail and its head; the state is the best on valid (500 queries among 2,000
entities). untrained: the same encoder with the same texts, before training. SimKGC, with two BERT
bases and all of train fifty times, has .666 / .800. Minutes are those spent in training steps.
"""
GOALS: dict[str, Goal] = {}


def main() -> None:
    """Train, rank the test split before and after, and record."""
    data = shared_data()
    if data is None:
        return
    graph = open_wordnet(data / "graphs" / NAME)
    described = {"name": NAME, "version": graph.manifest.version}
    with BENCHMARK.run(
        protocol=PROTOCOL, data=described, seeds=[SETTINGS.seed], goals=GOALS
    ) as run:
        untrained = TextCompleter(Encoder.load(max_length=SETTINGS.tokens))
        _record(run, "untrained", untrained, graph)
        folder = trained(graph)
        _record(run, "text", TextCompleter.from_pretrained(folder), graph)
        lines = (folder / "log.jsonl").read_text("utf-8").splitlines()
        epochs = [entry for line in lines if "seconds" in (entry := json.loads(line))]
        run.figure("text_minutes", round(epochs[-1]["seconds"] / 60, 1))


def open_wordnet(source: Path) -> Graph:
    """Open WN18RR, built if it is not there."""
    folder = WORK / "graphs" / NAME
    if not folder.exists():
        build_graph(open_source(source), folder, name=NAME)
    return Graph.open(folder)


def trained(graph: Graph) -> Path:
    """Return the completer of these settings, trained now if it is not there."""
    folder = WORK / f"{NAME}.text"
    wanted = {"settings": SETTINGS.to_dict(), "graph": graph.manifest.version}
    if not is_current(folder, lambda: read_manifest(folder, TextCompleter).facts, wanted):
        with progress_bar() as progress:
            run = train_text_completer(graph, folder, settings=SETTINGS, progress=progress)
            for epoch in run:
                shown = {name: round(value, 4) for name, value in epoch.figures.items()}
                loss, minutes = epoch.losses["loss"], epoch.seconds / 60
                print(f"epoch {epoch.number}, {minutes:.1f} min, loss {loss:.3f}: {shown}")
    return folder


def _record(run: Run, name: str, completer: TextCompleter, graph: Graph) -> None:
    source = TextSource(completer, graph, cache=WORK / "text")
    with progress_bar() as progress:
        source.fill(progress=progress)
    relations = graph.manifest.relations
    every = Queries.of(graph.whole().triples, relations)
    queries = Queries.of(graph.split("test").triples, relations)
    figures = rank(source.score, queries, every, entities=len(graph)).figures()
    for figure in ("mrr", "hits1", "hits10"):
        run.figure(f"{name}_{figure}", round(figures[figure], 4))


if __name__ == "__main__":
    main()
