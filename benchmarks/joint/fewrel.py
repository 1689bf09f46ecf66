"""Relations from a few examples: python -m benchmarks.joint.fewrel (FewRel)."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.relation_sentences import relation_sentences
from benchmarks.harness import Benchmark, Goal, shared_data
from benchmarks.joint.wikipedia import SEEDS, hidden_types, pretrained
from kgraft.joint import FineTuning, hit_counts
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks import FewShotSettings, RelationReader
from kgraft.tasks.joint.relations import episodes, fine_tune_relations

BENCHMARK = Benchmark(
    name="joint_fewrel",
    measures="relations from a few examples (FewRel)",
    minutes=None,
    data=(
        "corpus/vital_articles.jsonl.gz",
        "corpus/wikipedia_linked.jsonl.gz",
        "graphs/wikidata",
        "relations/fewrel",
        "relations/wiki80",
    ),
    off="trained alike",
)

SETTINGS = FewShotSettings(epochs=4, steps=200)
ASKED = {"5_way_1_shot": (5, 1), "5_way_5_shot": (5, 5), "10_way_1_shot": (10, 1)}
EPISODES = 10_000
PROTOCOL = """
Accuracy on the 16 validation relations of FewRel, 10,000 questions of each kind: a text is what the
joint model reads at its two marked entities, a relation the mean of its examples, the nearest by
cosine is the answer. The model was pre-trained on graphs/wikidata and linked Wikipedia (see
joint_wikipedia) and is fine-tuned on the 64 train relations of FewRel and Wiki80, 8 of which are
set apart to choose by: 800 steps of three texts of 16 relations each. The graph is graphs/wikidata;
every edge between the two marked entities of a text is hidden while it is read. on: entity vectors
are merged in; off: the same model and the same fine-tuning with the merge skipped. Intervals are
over questions, seeds pooled.
"""
GOALS: dict[str, Goal] = {
    "5_way_1_shot_on": {"at_least": 0.80},
    "5_way_5_shot_on": {"at_least": 0.90},
    "10_way_1_shot_on": {"at_least": 0.70},
    **{f"{name}_low": {"at_least": 0.0} for name in ASKED},
}


def main() -> None:
    """Fine-tune, measure and record."""
    data = shared_data()
    if data is None:
        return
    graph, load = hidden_types(data).graph, pretrained(data)
    learnt, test = relation_sentences(data, graph)

    def right(seed: int, *, use_knowledge: bool) -> np.ndarray:
        tuning = FineTuning(load(), graph, seed, use_knowledge=use_knowledge)
        fine_tune_relations(tuning, learnt, SETTINGS)
        vectors = RelationReader.of(tuning, test).all()
        return np.stack(
            [episodes(vectors, test.relation, *kind, EPISODES) for kind in ASKED.values()]
        )

    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={
            "name": "fewrel",
            "sha256": sha256(data / "relations" / "fewrel" / "val_wiki.jsonl"),
        },
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        by_side: dict[str, list[np.ndarray]] = {"on": [], "off": []}
        made_by = (SETTINGS, ASKED, EPISODES, load.facts)
        for seed in SEEDS:
            for side, by_seed in by_side.items():
                work = partial(right, seed, use_knowledge=side == "on")
                by_seed.append(cached_counts(f"fewrel.{side}.{seed}", made_by, work))
                print(side, seed, by_seed[-1].mean(1), flush=True)
        for row, name in enumerate(ASKED):
            on, off = (hit_counts([part[row] for part in by_side[side]]) for side in ("on", "off"))
            run.difference(name, paired_difference(on, off))


if __name__ == "__main__":
    main()
