"""What the context memory saves and costs: python -m benchmarks.joint.memory."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.cached import cached_counts
from benchmarks.data.linked_wikipedia import read_articles
from benchmarks.harness import Benchmark, Goal, Run, seconds, shared_data
from benchmarks.joint.live_memory import LiveMemory
from benchmarks.joint.wikipedia import fresh, untold_types
from kgraft.graph import Graph
from kgraft.joint import (
    Descriptions,
    JointConfig,
    LinkedWindows,
    PretrainSettings,
    new_heads,
    open_memory,
)
from kgraft.joint.trainee import JointTrainee
from kgraft.storage import sha256
from kgraft.vectors import RefreshSettings
from kgraft.vectors.memory import Memory

BENCHMARK = Benchmark(
    name="joint_memory",
    measures="what the context memory of joint pre-training saves and costs",
    minutes=9,
    data=("corpus/vital_articles.jsonl.gz", "corpus/wikipedia_linked.jsonl.gz", "graphs/wikidata"),
)

TIMED = PretrainSettings()  # the steps that are timed: as everybody takes them
SMALL = PretrainSettings(batch_tokens=512, roots=8, language_rate=1e-4, knowledge_rate=1e-3)
STEPS = 60
BATCHES = 5
REPEATS = 3  # of a step that takes two seconds
DRAWS = range(5)
DEFAULT, WIDE = JointConfig().fan_out, (25, 10)
FAN_OUTS = {"speedup": DEFAULT, "speedup_wide": WIDE}
PROTOCOL = """
A step of joint pre-training on graphs/wikidata and linked Wikipedia (by default: 2,048 tokens, 64
walks, all four losses) that reads the descriptions of all entities in the sampled neighbourhoods
of two hops, of the candidates of masked entities and of all relations, none of them twice for one
loss and with gradients, over the same step with the memory, to whose time that of a refresh of all
110,992 entities is added, spread over the 500 steps of the schedule's last interval. speedup: with
neighbourhoods of 8 then 4 edges, the default; speedup_wide: of 25 then 10, as GraphSAGE has them.
Two threads; five batches, each by both. Quality: 60 steps of 512 tokens and 8 walks with either,
the memory refreshed by the schedule (10, 10, 10, 20, …); masked-entity accuracy in 15 other
articles, the gold entity among its neighbours and 64 strangers, five draws of the masked mentions,
both with a memory that the final model has read. So few steps can only rule out a large loss of
accuracy: the draws spread by more than the two differ.
"""
GOALS: dict[str, Goal] = {"speedup": {"at_least": 15}, "accuracy_lost": {"at_most": 0.01}}


def main() -> None:
    """Measure, train and record."""
    data = shared_data()
    if data is None:
        return
    graph = untold_types(data).graph
    with (
        TemporaryDirectory() as folder,
        BENCHMARK.run(
            protocol=PROTOCOL,
            data={
                "name": "wikipedia_linked",
                "sha256": sha256(data / "corpus" / "wikipedia_linked.jsonl.gz"),
            },
            seeds=[0],
            goals=GOALS,
        ) as run,
    ):
        texts, valid = windows(data, graph)
        _speed(run, graph, texts, Path(folder))
        remembered, live = (
            accuracy(graph, texts, valid, Path(folder), live=live).tolist()
            for live in (False, True)
        )
        run.figure("memory_accuracy", remembered)
        run.figure("live_accuracy", live)
        lost = statistics.median(live) - statistics.median(remembered)
        run.figure("accuracy_lost", round(lost, 4))


def windows(data: Path, graph: Graph) -> tuple[LinkedWindows, LinkedWindows]:
    """Return the texts to learn from, and others to measure on."""
    articles, encoder = read_articles(data, graph), fresh(graph).encoder
    parts = (articles.train, AnnotatedTexts.concat([articles.valid, articles.test]))
    learnt, held = (LinkedWindows.of(encoder.windows(part.texts), part) for part in parts)
    return learnt, held


def _speed(run: Run, graph: Graph, texts: LinkedWindows, folder: Path) -> None:
    """Record how much longer a step takes without the memory, by what is looked at of the graph."""
    refreshed = None
    for name, fan_out in FAN_OUTS.items():
        remembering, live = (
            _trainee(graph, texts, folder / "timed", TIMED, live=live, fan_out=fan_out)
            for live in (False, True)
        )
        read = Descriptions(graph, remembering.model.language).read
        spent = seconds(partial(remembering.memory.refresh, read))
        refreshed = refreshed or spent  # later ones find what the first has read
        first, *others = remembering.batches(0)[: 1 + BATCHES]
        remembering.step(first, 0)
        ratios = []
        for batch in others:  # by both, one after the other
            turns = [seconds(partial(remembering.step, batch, 0)) for _ in range(REPEATS)]
            remembered, without = statistics.median(turns), seconds(partial(live.step, batch, 0))
            print(name, refreshed, remembered, without, flush=True)
            ratios.append(without / (remembered + refreshed / RefreshSettings().most))
        run.figure(name, ratios)


def accuracy(
    graph: Graph, texts: LinkedWindows, valid: LinkedWindows, folder: Path, *, live: bool
) -> np.ndarray:
    """Train for some steps, and return how often masked entities are told, by draw."""

    def work() -> np.ndarray:
        trainee = _trainee(graph, texts, folder / f"live-{live}", SMALL, live=live)
        batches = trainee.batches(0)
        trainee.steps = STEPS
        for place in range(STEPS):
            losses = trainee.step(batches[place], place)
            if place % 10 == 0:
                print("live" if live else "memory", place, losses, flush=True)
        model, heads = trainee.model, trainee.heads
        memory = open_memory(model, graph, folder=folder / f"final-{live}")
        asked = (
            JointTrainee(model, heads, graph, memory, texts, valid, SMALL.changed(seed=seed))
            for seed in DRAWS
        )
        return np.array([each.validate()["mentions"] for each in asked])

    return cached_counts(f"memory.live-{live}", (SMALL, STEPS, DRAWS, graph.manifest.version), work)


def _trainee(
    graph: Graph,
    texts: LinkedWindows,
    folder: Path,
    settings: PretrainSettings,
    *,
    live: bool,
    fan_out: tuple[int, ...] = DEFAULT,
) -> JointTrainee:
    torch.manual_seed(0)
    model = fresh(graph, JointConfig(fan_out=fan_out))
    sizes = {"entities": len(graph.entities), "relations": len(graph.relations)}
    memory = (
        LiveMemory(folder, graph, model.language)
        if live
        else Memory(folder, **sizes, size=model.encoder.dimension)
    )
    heads = new_heads(model, graph, 0)
    return JointTrainee(model, heads, graph, memory, texts, None, settings)


if __name__ == "__main__":
    main()
