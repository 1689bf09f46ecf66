"""Questions over a graph of movies: python -m benchmarks.joint.metaqa (MetaQA)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.movie_questions import HOPS, all_hops, movies, questions
from benchmarks.harness import Benchmark, Goal, shared_data
from benchmarks.joint.wikipedia import SEEDS, pretrained
from kgraft.ask import AnswererSettings, Questions, fine_tune_answerer
from kgraft.joint import FineTuning, JointModel, hit_counts
from kgraft.measure import paired_difference
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="joint_metaqa",
    measures="questions of one to three hops over a graph of movies (MetaQA)",
    minutes=None,
    data=(
        "corpus/vital_articles.jsonl.gz",
        "corpus/wikipedia_linked.jsonl.gz",
        "graphs/wikidata",
        "qa/metaqa",
    ),
    off="trained alike",
)

SETTINGS = AnswererSettings(epochs=1, batch=32)
LEARNT = 12_000  # train questions
DEV = 1000  # questions to choose by
PROTOCOL = """
Hits@1 on the test questions of MetaQA: the best entity is one of the answers. One joint model for
all three numbers of hops, pre-trained on graphs/wikidata and linked Wikipedia (see
joint_wikipedia), never on movies; fine-tuned once through 12,000 of the 35,225 train questions of
all hops together, drawn again by each seed.
on: the topic's vector is merged in, and one walks from the topic along the relations that the
question asks for. off: the merge is skipped and nothing is walked; all entities are ranked by how
well they fit the question. Where the graph lacks a triple some answers cannot be reached: they
count as wrong. Differences have their interval over questions, seeds pooled.
"""
GOALS: dict[str, Goal] = {
    "hops_1_on": {"at_least": 0.97},
    "hops_2_on": {"at_least": 0.95},
    "hops_3_on": {"at_least": 0.90},
}


def main() -> None:
    """Fine-tune, ask and record."""
    data = shared_data()
    if data is None:
        return
    load = pretrained(data)
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "metaqa", "sha256": sha256(data / "qa" / "metaqa" / "triples.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        right_by_side = {
            side: [
                answered(data, load, load.facts, seed, use_knowledge=side == "on") for seed in SEEDS
            ]
            for side in ("on", "off")
        }
        for row, hops in enumerate(HOPS):
            on, off = (
                hit_counts([right[row] for right in right_by_side[side]]) for side in ("on", "off")
            )
            run.difference(f"hops_{hops}", paired_difference(on, off))


def answered(
    data: Path,
    load: Callable[[], JointModel],
    facts: object,
    seed: int,
    *,
    settings: AnswererSettings = SETTINGS,
    most: int = LEARNT,
    every: int = 1,
    use_knowledge: bool = True,
) -> list[np.ndarray]:
    """Return which test questions are answered right, by hops, after a fine-tuning.

    `facts` tell how the model that `load` gives was made; `most` questions are learnt from. With
    `every` 4, every fourth test question is asked.
    """
    graph = movies(data)
    tests = [
        part.select(np.arange(0, len(part), every))
        for part in questions(data, graph, "test").values()
    ]

    def work() -> np.ndarray:
        learnt, valid = (all_hops(questions(data, graph, split)) for split in ("train", "dev"))
        learnt, valid = _sample(learnt, most, seed), _sample(valid, DEV, 0)
        tuning = FineTuning(load(), graph, seed, use_knowledge=use_knowledge)
        answerer = fine_tune_answerer(tuning, learnt, valid, settings=settings)
        return np.concatenate([answerer.right(part) for part in tests])

    made_by = (settings, graph.manifest.version, facts, most, DEV, every, use_knowledge)
    right = cached_counts(f"metaqa.{seed}", made_by, work)
    print(seed, most, use_knowledge, float(right.mean()), flush=True)
    return np.split(right, np.cumsum([len(part) for part in tests])[:-1])


def _sample(pool: Questions, most: int, seed: int) -> Questions:
    return pool.select(np.sort(np.random.default_rng(seed).permutation(len(pool))[:most]))


if __name__ == "__main__":
    main()
