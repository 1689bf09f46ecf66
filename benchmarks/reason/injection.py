"""What relation paths add to reading relations: python -m benchmarks.reason.injection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.altered_graph import Table, altered_graph
from benchmarks.harness import WORK, Benchmark, shared_data
from kgraft.corpus import read_json_lines
from kgraft.graft import AttentionSettings, GraftedEncoder, GraphKnowledge, PathKnowledge
from kgraft.graph import Graph
from kgraft.measure import Difference, paired_difference, ratio
from kgraft.storage import sha256
from kgraft.tasks import Classification, ClassificationSettings
from kgraft.tasks.classification import Splits
from kgraft.tasks.examples import Examples, Row, mark_spans
from kgraft.text import Encoder
from kgraft.vectors import CombinedVectors, NeighbourVectors, WordVectors

BENCHMARK = Benchmark(
    name="reason_injection",
    measures="what relation paths add to reading relations: Wiki80",
    minutes=None,
    data=("graphs/wikidata", "relations/wiki80"),
    off="trained alike",
)

SENTENCES = Path("relations/wiki80/all.jsonl.gz")
LAYER = 5
SEEDS = (0, 1, 2)
BOUNDS = (0.35, 0.45)  # below the first: train, below the second: valid, else test
GRAFT = AttentionSettings(size=128, inner=512, threshold=None, log_prior=True)
SETTINGS = ClassificationSettings(epochs=4, patience=None, frozen_layers=3, graft_rate=1e-3)
PROTOCOL = """
Accuracy on Wiki80: which of 80 relations a sentence states between its two marked entities. Of
9,520 sentences 35 % are learned from, 10 % choose the epoch and 55 % are measured on; no pair of
entities is in two parts. The graph is graphs/wikidata without anything that it says of the two
entities of any sentence together, in either direction, so that no asked fact can be looked up.
A new graft after the fifth layer of the default encoder, over the names of the graph, with entities
known by the words of their texts and the names of their neighbours, is fine-tuned with the upper
three layers on the task alone: with paths, with the same knowledge without paths (graph), and with
its knowledge off. All three have the same settings, data and seeds. injection is paths minus off,
paths_alone is paths minus graph; joined_* the same on those sentences whose two entities are joined
by a path of at most three steps. 95 % intervals, paired bootstrap over sentences, seeds pooled.
"""


def main() -> None:
    """Fine-tune, measure and record."""
    data = shared_data()
    if data is None:
        return
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "wiki80", "sha256": sha256(data / SENTENCES)},
        seeds=SEEDS,
    ) as run:
        task, splits, pairs = read_task(data)
        sources = open_sources(data)
        joined = are_joined(sources["paths"], pairs)
        run.figure("joined_share", round(float(joined.mean()), 4))
        counts = {side: _counts(side, sources, task, splits) for side in ("paths", "graph", "off")}
        for name, other in (("injection", "off"), ("paths_alone", "graph")):
            both = counts["paths"], counts[other]
            run.difference(name, _difference(*both))
            run.difference(f"joined_{name}", _difference(*(side[joined] for side in both)))


def _difference(on: np.ndarray, off: np.ndarray) -> Difference:
    return paired_difference(on, off, figure=ratio)


# The task


def read_task(data: Path) -> tuple[Classification, Splits, list[tuple[str, str]]]:
    """Return the task, its examples, and the pairs of entities of the test examples."""
    lines = [json.loads(line) for _, line in read_json_lines(data / SENTENCES)]
    relations = tuple(sorted({line["relation"] for line in lines}))
    task = Classification("wiki80", relations, _rows, _right, ratio, "accuracy")
    parts = np.searchsorted(BOUNDS, [_hashed(_pair(line)) for line in lines], side="right")
    train, valid, test = (
        Examples.of(
            [row for n in np.flatnonzero(parts == part) for row in _rows(lines[n])], relations
        )
        for part in range(3)
    )
    pairs = [_pair(lines[n]) for n in np.flatnonzero(parts == 2)]
    return task, (train, valid, test), pairs


def _pair(line: Mapping[str, Any]) -> tuple[str, str]:
    return line["head"]["entity"], line["tail"]["entity"]


def _hashed(pair: tuple[str, str]) -> float:
    """Return a number between 0 and 1 that a pair has in either order."""
    digest = hashlib.sha256(" ".join(sorted(pair)).encode()).digest()
    return int.from_bytes(digest[:6]) / (1 << 48)


def _rows(line: Mapping[str, Any]) -> list[Row]:
    ends = ([line[end]["start"], line[end]["end"]] for end in ("head", "tail"))
    text, spans = mark_spans(line["text"], *ends)
    return [([(text, *span) for span in spans], [line["relation"]])]


def _right(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.stack([(true & predicted).any(1), np.ones(len(true))], axis=1)


# The knowledge


def open_sources(data: Path) -> dict[str, GraphKnowledge]:
    """Return the knowledge with paths and without, of a graph without the asked facts."""
    changes = {"triples": partial(_without_asked, data)}
    graph = altered_graph(data / "graphs" / "wikidata", WORK / "wikidata-without-wiki80", changes)
    vectors = _vectors(graph)
    return {"paths": PathKnowledge(graph, vectors), "graph": GraphKnowledge(graph, vectors)}


def _without_asked(data: Path, triples: Table) -> Table:
    """Return triples without those between the two entities of any sentence."""
    lines = (json.loads(line) for _, line in read_json_lines(data / SENTENCES))
    asked = {frozenset(_pair(line)) for line in lines}
    return [row for row in triples if frozenset((row[0], row[2])) not in asked]


def _vectors(graph: Graph) -> CombinedVectors:
    encoder = Encoder.load()
    texts = WordVectors(graph, encoder, fields=("label", "description", "types"))
    return CombinedVectors([texts, NeighbourVectors(WordVectors(graph, encoder))])


def are_joined(knowledge: GraphKnowledge, pairs: list[tuple[str, str]]) -> np.ndarray:
    """Return which pairs are joined by a path, (P,)."""
    assert isinstance(knowledge, PathKnowledge)
    head, tail = (knowledge.graph.indices_of([pair[end] for pair in pairs]) for end in (0, 1))
    inside = np.flatnonzero((head >= 0) & (tail >= 0))
    joined = np.zeros(len(pairs), bool)
    joined[inside[knowledge.paths_between(head[inside], tail[inside]).pair]] = True
    return joined


# Measuring


def _counts(
    side: str, sources: Mapping[str, GraphKnowledge], task: Classification, splits: Splits
) -> np.ndarray:
    """Return the counts of the test examples, summed over seeds."""
    made_by = (GRAFT, SETTINGS, BOUNDS, LAYER, sources["graph"].graph.manifest.version)
    counts = [
        cached_counts(
            f"wiki80.{side}.{seed}", made_by, partial(fine_tuned, side, sources, task, splits, seed)
        )
        for seed in SEEDS
    ]
    print(side, *(round(float(ratio(each.sum(0))), 4) for each in counts), flush=True)
    return np.sum(counts, axis=0)


def fine_tuned(
    side: str,
    sources: Mapping[str, GraphKnowledge],
    task: Classification,
    splits: Splits,
    seed: int,
) -> np.ndarray:
    """Fine-tune a new graft, and return the counts of the test examples."""
    source = sources["graph" if side == "off" else side]
    encoder = GraftedEncoder(Encoder.load(), {LAYER: source}, settings={LAYER: GRAFT}, seed=seed)
    return task.fine_tune(
        encoder, splits, seed=seed, settings=SETTINGS, use_knowledge=side != "off"
    )


if __name__ == "__main__":
    main()
