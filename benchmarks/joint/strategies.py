"""When the graph should get known: python -m benchmarks.joint.strategies (FewRel)."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.relation_sentences import relation_sentences
from benchmarks.harness import Benchmark, shared_data
from benchmarks.joint.wikipedia import SEEDS, fresh, pretrained, untold_types
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks import STRATEGIES
from kgraft.tasks.few_shot import EpisodeSettings, episodes
from kgraft.tasks.joint_tasks import FineTuning, fine_tune_relations, hits, read_relations
from kgraft.tasks.strategies import Strategy

BENCHMARK = Benchmark(
    name="joint_strategies",
    measures="when the model gets to know the graph: pre-training, fine-tuning, both, multi-task",
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

SETTINGS = EpisodeSettings(steps=40, validate_every=40, lower=False)
TEXTS = 100  # of each relation
ASKED = 10_000
PROTOCOL = """
5-way-1-shot accuracy on the 16 validation relations of FewRel as in joint_fewrel, but on the first
100 texts of each and after 40 steps of fine-tuning, by when the model gets to know the graph: from
pre-training only (the merge is skipped in fine-tuning), from fine-tuning only (the default encoder
and a graph attention that has learnt nothing), from both, or as one task among several (as
fine-tuning only, with the categories of entities and the relations between them learnt in the same
steps). off is the default encoder fine-tuned in the same way without the graph. Intervals are over
questions, seeds pooled.
"""


def main() -> None:
    """Fine-tune by each strategy, measure and record."""
    data = shared_data()
    if data is None:
        return
    graph, load = untold_types(data).graph, pretrained(data)
    learnt, test = relation_sentences(data, graph, TEXTS)

    def right(way: Strategy, seed: int) -> np.ndarray:
        model = load() if way.pretrained else fresh(graph)
        tuning = FineTuning(model, graph, seed, knowing=way.merged, beside=way.beside)
        fine_tune_relations(tuning, learnt, SETTINGS)
        return episodes(read_relations(tuning, test), test.relation, 5, 1, ASKED)

    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={
            "name": "fewrel",
            "sha256": sha256(data / "relations" / "fewrel" / "val_wiki.jsonl"),
        },
        seeds=SEEDS,
    ) as run:
        found = {}
        for name, way in STRATEGIES.items():
            of = load.facts if way.pretrained else graph.manifest.version
            told = (SETTINGS, TEXTS, ASKED, of)
            seeds = [
                cached_counts(f"strategy.{name}.{seed}", told, partial(right, way, seed))
                for seed in SEEDS
            ]
            found[name] = hits(seeds)
            print(name, [float(part.mean()) for part in seeds], flush=True)
        none = found.pop("none")
        for name, counts in found.items():
            run.difference(name.replace("-", "_"), paired_difference(counts, none))


if __name__ == "__main__":
    main()
