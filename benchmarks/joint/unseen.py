"""What pre-training adds on graphs it never saw: python -m benchmarks.joint.unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.movie_questions import movies
from benchmarks.harness import WORK, Benchmark, Goal, shared_data
from benchmarks.joint.baselines import fixed
from benchmarks.joint.metaqa import answered
from benchmarks.joint.wikipedia import SEEDS, SavedModel, fresh, pretrained
from kgraft.ask import AnswererSettings
from kgraft.graph import Graph, build_graph, open_source
from kgraft.joint import JointModel, hit_counts, open_memory
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks import EntityClassSettings, GraphReader
from kgraft.tasks.joint.classes import EntityClasses, classify_entities

BENCHMARK = Benchmark(
    name="joint_unseen",
    measures="what joint pre-training adds on graphs it never saw",
    minutes=None,
    data=(
        "corpus/vital_articles.jsonl.gz",
        "corpus/wikipedia_linked.jsonl.gz",
        "graphs/fb15k237",
        "graphs/wikidata",
        "qa/metaqa",
    ),
    off="no pre-training",
)

Side = tuple[Callable[[], JointModel], object]
"""What gives a model, and how it was made."""
READINGS = 2  # sampled neighbourhoods per entity, where vectors stay as they are


class Way(NamedTuple):
    """How entities are learnt to be classified."""

    settings: EntityClassSettings
    most: int | None = None  # entities to learn from
    tuned: bool = False  # whether the graph attention learns too


WAYS = {
    "types": Way(EntityClassSettings(epochs=15), tuned=True),
    "types_fixed": Way(EntityClassSettings(readings=1)),
    "types_fixed_few": Way(EntityClassSettings(batch=16, readings=1), 130),
}
QUESTIONS, LEARNT, EVERY = AnswererSettings(epochs=6, batch=8, patience=3), 100, 4
PROTOCOL = """
A joint model pre-trained on graphs/wikidata and linked Wikipedia only (see joint_wikipedia), on
graphs that it has not seen, against the same model without pre-training: the default encoder, and a
graph attention that has learnt nothing. Both are fine-tuned alike. types: accuracy of the most
frequent of an entity's types, among the 50 most frequent ones of graphs/fb15k237 (they follow from
the relations of which it is the subject), 20 / 20 / 60 % to learn from, choose by and measure on.
types_fixed: the same with the graph attention as it is, the mean of two readings; only a classifier
learns. types_fixed_few: the classifier learns from 130 entities, 1 % of them. questions: Hits@1
over every fourth test question of MetaQA after fine-tuning on 100 of the train questions of all
hops, the epoch chosen on 1,000 of dev. The 130 and the 100 are drawn again by each seed. on is with
pre-training, off without; intervals are over entities and questions, seeds pooled.
"""
GOALS: dict[str, Goal] = {f"{name}_low": {"at_least": 0.0} for name in (*WAYS, "questions")}


def main() -> None:
    """Fine-tune, measure and record."""
    data = shared_data()
    if data is None:
        return
    load = pretrained(data)
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "fb15k237", "sha256": sha256(data / "graphs" / "fb15k237" / "entities.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        for name, counts in {**_types(data, load), "questions": _questions(data, load)}.items():
            run.difference(name, paired_difference(*counts))


def _types(data: Path, load: SavedModel) -> dict[str, list[np.ndarray]]:
    graph = freebase(data)
    return {
        name: [
            hit_counts([classified(name, graph, side, seed) for seed in SEEDS])
            for side in sides(load, graph)
        ]
        for name in WAYS
    }


def _questions(data: Path, load: SavedModel) -> list[np.ndarray]:
    return [
        hit_counts([np.concatenate(asked(data, side, seed)) for seed in SEEDS])
        for side in sides(load, movies(data))
    ]


def sides(load: SavedModel, graph: Graph) -> list[Side]:
    """Return the model with pre-training, and without."""
    return [(load, load.facts), (partial(fresh, graph), None)]


def asked(data: Path, side: Side, seed: int) -> list[np.ndarray]:
    """Return which test questions are answered right, by hops."""
    return answered(data, *side, seed, settings=QUESTIONS, most=LEARNT, every=EVERY)


def freebase(data: Path) -> Graph:
    """Return graphs/fb15k237, built if it is not there."""
    folder = WORK / "fb15k237"
    if not folder.exists():
        build_graph(open_source(data / "graphs" / "fb15k237"), folder, name="fb15k237")
    return Graph.open(folder)


def classified(name: str, graph: Graph, side: Side, seed: int) -> np.ndarray:
    """Return which test entities are put into their class."""
    (load, facts), way = side, WAYS[name]

    def work() -> np.ndarray:
        learnt, valid, test = most_frequent(graph).split()
        rows = np.sort(np.random.default_rng(seed).permutation(len(learnt))[: way.most])
        model = load()
        reader = (
            GraphReader(model, graph, open_memory(model, graph))
            if way.tuned
            else fixed(model, graph, READINGS)
        )
        parts = (learnt.select(rows), valid, test)
        settings = way.settings.replace(seed=seed)
        return classify_entities(reader, model.encoder.dimension, parts, settings)

    right = cached_counts(
        f"unseen.{name}.{seed}", (way, READINGS, graph.manifest.version, facts), work
    )
    print(name, seed, "fresh" if facts is None else "pretrained", float(right.mean()), flush=True)
    return right


def most_frequent(graph: Graph) -> EntityClasses:
    """Return entities with the most frequent of their types; Freebase has them by the alphabet."""
    first = EntityClasses.of(graph)
    rank = {name: n for n, name in enumerate(first.names)}
    types = graph.entities["types"].take(first.entity).to_pylist()
    label = [min(rank[name] for name in row if name in rank) for row in types]
    return replace(first, label=np.array(label))


if __name__ == "__main__":
    main()
