"""When a model should get to know the graph: python -m benchmarks.joint.strategies (FewRel)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.relation_sentences import relation_sentences
from benchmarks.harness import Benchmark, shared_data
from benchmarks.joint.wikipedia import SEEDS, fresh, hidden_types, pretrained
from kgraft.graph import Graph
from kgraft.joint import FineTuning, JointModel, hit_counts
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks import FewShotSettings, RelationReader
from kgraft.tasks.joint.relations import episodes, fine_tune_relations

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


@dataclass(frozen=True)
class Strategy:
    """What a model has of the graph, and when."""

    pretrained: bool
    use_knowledge: bool  # in fine-tuning, vectors of entities are merged into what is read
    multi_task: bool = False  # the two losses of the graph's side are learned in the same steps


STRATEGIES = {
    "none": Strategy(pretrained=False, use_knowledge=False),
    "pre-training": Strategy(pretrained=True, use_knowledge=False),
    "fine-tuning": Strategy(pretrained=False, use_knowledge=True),
    "both": Strategy(pretrained=True, use_knowledge=True),
    "multi-task": Strategy(pretrained=False, use_knowledge=True, multi_task=True),
}
SETTINGS = FewShotSettings(epochs=1, steps=40, train_lower=False)
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
    graph, load = hidden_types(data).graph, pretrained(data)
    learnt, test = relation_sentences(data, graph, TEXTS)

    def count_right(strategy: Strategy, seed: int) -> np.ndarray:
        tuning = fine_tuning(strategy, load, partial(fresh, graph), graph, seed)
        fine_tune_relations(tuning, learnt, SETTINGS)
        vectors = RelationReader.of(tuning, test).all()
        return episodes(vectors, test.relation, 5, 1, ASKED)

    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={
            "name": "fewrel",
            "sha256": sha256(data / "relations" / "fewrel" / "val_wiki.jsonl"),
        },
        seeds=SEEDS,
    ) as run:
        counts = {}
        for name, strategy in STRATEGIES.items():
            start = load.facts if strategy.pretrained else graph.manifest.version
            made_by = (SETTINGS, TEXTS, ASKED, start)
            right = [
                cached_counts(
                    f"strategy.{name}.{seed}", made_by, partial(count_right, strategy, seed)
                )
                for seed in SEEDS
            ]
            counts[name] = hit_counts(right)
            print(name, [float(part.mean()) for part in right], flush=True)
        none = counts.pop("none")
        for name, strategy_counts in counts.items():
            run.difference(name.replace("-", "_"), paired_difference(strategy_counts, none))


def fine_tuning(
    strategy: Strategy,
    load_pretrained: Callable[[], JointModel],
    load_untrained: Callable[[], JointModel],
    graph: Graph,
    seed: int,
) -> FineTuning:
    """Return what is fine-tuned by a strategy."""
    model = load_pretrained() if strategy.pretrained else load_untrained()
    return FineTuning(
        model,
        graph,
        seed,
        use_knowledge=strategy.use_knowledge,
        multi_task=strategy.multi_task,
    )


if __name__ == "__main__":
    main()
