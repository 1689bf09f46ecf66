"""What pre-training is worth on graphs it never saw: python -m benchmarks.joint_unseen."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.harness import WORK, Benchmark, Goal, shared_data
from benchmarks.joint_metaqa import answered
from benchmarks.joint_wikipedia import SEEDS, fresh, pretrained
from benchmarks.movie_questions import movies
from kgraft.graph import Graph, build_graph, open_source
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks.graph_questions import QuestionSettings
from kgraft.tasks.joint_tasks import FineTuning, classify_entities, hits

SETTINGS = QuestionSettings(epochs=4)
LEARNT = 2000  # questions
PROTOCOL = """
A joint model pre-trained on graphs/wikidata and linked Wikipedia only (see joint_wikipedia), on
graphs that it has not seen, against the same model without pre-training: the default encoder, and a
graph attention that has learnt nothing. Both are fine-tuned alike. types: accuracy of the first of
an entity's types among the 50 most frequent ones of graphs/fb15k237 (they follow from the relations
of which it is the subject), 20 / 20 / 60 % to learn from, choose by and measure on.
questions: Hits@1 over all test questions of MetaQA after fine-tuning on 2,000 of the train
questions of all hops, drawn anew by each seed, the epoch chosen on dev. on is with pre-training,
off without; intervals are over entities and questions, seeds pooled.
"""
GOALS: dict[str, Goal] = {"types_low": {"at_least": 0.0}, "questions_low": {"at_least": 0.0}}


def main() -> None:
    """Fine-tune, measure and record."""
    data = shared_data()
    if data is None:
        return
    folder = WORK / "fb15k237"
    if not folder.exists():
        build_graph(open_source(data / "graphs" / "fb15k237"), folder, name="fb15k237")
    freebase, load = Graph.open(folder), pretrained(data)
    with Benchmark(
        "joint_unseen",
        protocol=PROTOCOL,
        data={"name": "fb15k237", "sha256": sha256(data / "graphs" / "fb15k237" / "entities.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        on, off = (
            hits([classify_entities(FineTuning(made(), freebase, seed)) for seed in SEEDS])
            for made in (load, partial(fresh, freebase))
        )
        run.difference("types", paired_difference(on, off))
        graph = movies(data)
        on, off = (
            hits(
                [
                    np.concatenate(
                        answered(data, made, of, seed, SETTINGS, f"unseen.{name}", most=LEARNT)
                    )
                    for seed in SEEDS
                ]
            )
            for name, made, of in (
                ("pretrained", load, load.facts),
                ("fresh", partial(fresh, graph), None),
            )
        )
        run.difference("questions", paired_difference(on, off))


if __name__ == "__main__":
    main()
