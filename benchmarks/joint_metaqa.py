"""Questions over a graph of movies: python -m benchmarks.joint_metaqa (MetaQA)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.harness import Benchmark, Goal, shared_data
from benchmarks.joint_wikipedia import SEEDS, pretrained
from benchmarks.kept import counted
from benchmarks.movie_questions import HOPS, movies, questions, together
from kgraft.joint import JointModel
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks.graph_questions import QuestionSettings
from kgraft.tasks.joint_tasks import FineTuning, fine_tune_questions, hits

SETTINGS = QuestionSettings(epochs=1)
PROTOCOL = """
Hits@1 on the test questions of MetaQA: the best entity is one of the answers. One joint model for
all three numbers of hops, pre-trained on graphs/wikidata and linked Wikipedia (see
joint_wikipedia), never on movies; fine-tuned once through the train questions of all hops together.
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
    with Benchmark(
        "joint_metaqa",
        protocol=PROTOCOL,
        data={"name": "metaqa", "sha256": sha256(data / "qa" / "metaqa" / "triples.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        found = {
            side: [
                answered(
                    data, load, load.facts, seed, SETTINGS, f"metaqa.{side}", knowing=side == "on"
                )
                for seed in SEEDS
            ]
            for side in ("on", "off")
        }
        for place, hops in enumerate(HOPS):
            on, off = (hits([right[place] for right in found[side]]) for side in ("on", "off"))
            run.difference(f"hops_{hops}", paired_difference(on, off))


def answered(
    data: Path,
    load: Callable[[], JointModel],
    of: object,
    seed: int,
    settings: QuestionSettings,
    name: str,
    *,
    knowing: bool = True,
    most: int | None = None,
) -> list[np.ndarray]:
    """Return which test questions are answered right, by hops, after a fine-tuning.

    `of` tells how the model that `load` gives was made; `most` questions are learnt from, or all.
    """
    graph = movies(data)
    tests = questions(data, graph, "test")

    def work() -> np.ndarray:
        learnt, valid = (together(questions(data, graph, split)) for split in ("train", "dev"))
        some = np.random.default_rng(seed).permutation(len(learnt))[:most]
        learnt = learnt.part(np.sort(some))
        tuning = FineTuning(load(), graph, seed, knowing=knowing)
        trainee = fine_tune_questions(tuning, learnt, valid, settings)
        return np.concatenate([trainee.right(part) for part in tests.values()])

    right = counted(f"{name}.{seed}", (settings, graph.manifest.version, of, most), work)
    print(name, seed, float(right.mean()), flush=True)
    return np.split(right, np.cumsum([len(part) for part in tests.values()])[:-1])


if __name__ == "__main__":
    main()
