"""What the context memory saves and costs: python -m benchmarks.joint.memory."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.linked_wikipedia import read_articles
from benchmarks.harness import Benchmark, Goal, Run, seconds, shared_data
from benchmarks.joint.live_memory import LiveMemory, set_up_with
from benchmarks.joint.wikipedia import fresh, hidden_types
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.joint import Descriptions, JointConfig, JointTask, PretrainSettings, open_memory
from kgraft.storage import sha256
from kgraft.vectors import Memory, RefreshSettings

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
articles, the gold entity among its neighbours and 64 random entities, five draws of the masked
mentions, both with a memory that the final model has read. So few steps can only rule out a large
loss of accuracy: the draws spread by more than the two differ.
"""
GOALS: dict[str, Goal] = {"speedup": {"at_least": 15}, "accuracy_lost": {"at_most": 0.01}}


def main() -> None:
    """Measure, train and record."""
    data = shared_data()
    if data is None:
        return
    graph = hidden_types(data).graph
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
        texts, valid = split_texts(data, graph)
        _speed(run, graph, texts, Path(folder))
        with_memory, without = (
            accuracy(graph, texts, valid, Path(folder), live=live).tolist()
            for live in (False, True)
        )
        run.figure("memory_accuracy", with_memory)
        run.figure("live_accuracy", without)
        lost = statistics.median(without) - statistics.median(with_memory)
        run.figure("accuracy_lost", round(lost, 4))


def split_texts(data: Path, graph: Graph) -> tuple[AnnotatedTexts, AnnotatedTexts]:
    """Return the texts to learn from, and others to measure on."""
    articles = read_articles(data, graph)
    return articles.train, AnnotatedTexts.concat([articles.valid, articles.test])


def _speed(run: Run, graph: Graph, texts: AnnotatedTexts, folder: Path) -> None:
    """Record how much longer a step takes without the memory, by the sampled neighbourhoods."""
    refresh_seconds = None
    for name, fan_out in FAN_OUTS.items():
        with_memory, live = (
            _task(graph, texts, None, folder / "timed", TIMED, live=live, fan_out=fan_out)
            for live in (False, True)
        )
        read = Descriptions(graph, with_memory.model.language).read
        spent = seconds(partial(with_memory.memory.refresh, read))
        refresh_seconds = refresh_seconds or spent  # later tasks find what the first has read
        first, *others = with_memory.batches(0)[: 1 + BATCHES]
        with_memory.step(first, 0)
        ratios = []
        for batch in others:  # by both, one after the other
            turns = [seconds(partial(with_memory.step, batch, 0)) for _ in range(REPEATS)]
            own, without = statistics.median(turns), seconds(partial(live.step, batch, 0))
            print(name, refresh_seconds, own, without, flush=True)
            ratios.append(without / (own + refresh_seconds / RefreshSettings().most))
        run.figure(name, ratios)


def accuracy(
    graph: Graph, texts: AnnotatedTexts, valid: AnnotatedTexts, folder: Path, *, live: bool
) -> np.ndarray:
    """Train for some steps, and return how often masked entities are told, by draw."""

    def work() -> np.ndarray:
        task = _task(graph, texts, valid, folder / f"live-{live}", SMALL, live=live)
        batches = task.batches(0)
        task.steps = STEPS
        for step in range(STEPS):
            losses = task.step(batches[step], step)
            if step % 10 == 0:
                print("live" if live else "memory", step, losses, flush=True)
        set_up_with(task, open_memory(task.model, graph, folder=folder / f"final-{live}"))
        shares = []
        for seed in DRAWS:
            task.settings = SMALL.replace(seed=seed)
            shares.append(task.validate()["mentions"])
        return np.array(shares)

    return cached_counts(f"memory.live-{live}", (SMALL, STEPS, DRAWS, graph.manifest.version), work)


def _task(
    graph: Graph,
    texts: AnnotatedTexts,
    valid: AnnotatedTexts | None,
    folder: Path,
    settings: PretrainSettings,
    *,
    live: bool,
    fan_out: tuple[int, ...] = DEFAULT,
) -> JointTask:
    model = fresh(graph, JointConfig(fan_out=fan_out))
    entities, relations = len(graph.entities), len(graph.relations)
    memory = (
        LiveMemory(folder, graph, model.language)
        if live
        else Memory(folder, entities=entities, relations=relations, size=model.encoder.dimension)
    )
    task = JointTask(model, graph, texts, valid, settings)
    set_up_with(task, memory)
    return task


if __name__ == "__main__":
    main()
