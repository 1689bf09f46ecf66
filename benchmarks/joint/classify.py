"""The types of entities by text and structure: python -m benchmarks.joint.classify (wikidata)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import nn

from benchmarks.harness import Benchmark, Goal, shared_data
from benchmarks.joint.baselines import FixedVectors, GraphAlone, PlainGcn
from benchmarks.joint.wikipedia import SEEDS, HiddenTypes, hidden_types, pretrained
from kgraft.joint import JointModel, hit_counts, open_memory
from kgraft.joint.descriptions import FIELDS
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks import EntityClassSettings, GraphReader
from kgraft.tasks.joint.classes import classify_entities
from kgraft.training import seeded
from kgraft.vectors import TextVectors

BENCHMARK = Benchmark(
    name="joint_classify",
    measures="types of entities, against text alone, the graph alone and a plain GCN",
    minutes=None,
    data=("corpus/vital_articles.jsonl.gz", "corpus/wikipedia_linked.jsonl.gz", "graphs/wikidata"),
    off="other model",
)

PROTOCOL = """
Accuracy of the type of an entity of graphs/wikidata among its 50 most frequent ones; 20 % of the
typed entities to learn from, 20 % to choose by, 60 % to measure on, whose types the graph does not
tell (nor what they are an instance of). joint: the lower half of the encoder and the graph
attention, pre-trained (see joint_wikipedia); the attention is fine-tuned, 8 then 4 edges of an
entity are looked at, in four draws whose mean decides. joint_off: the same model without its graph
attention. text_only: the vectors that the whole default encoder gives the same texts. graph_only:
graph attention without any text, from which relations are around an entity. gcn: a plain GCN over
the vectors of text_only. All with the same classifier, steps and three seeds. lead is joint over
the best of the others; the differences have their interval over entities, seeds pooled.
"""
GOALS: dict[str, Goal] = {"lead": {"at_least": 0.02}}
SETTINGS = EntityClassSettings()


def main() -> None:
    """Train, measure and record."""
    data = shared_data()
    if data is None:
        return
    asked, load = hidden_types(data), pretrained(data)
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "wikidata", "sha256": sha256(data / "graphs" / "wikidata" / "entities.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        size = load().encoder.dimension
        right = {name: _right(made, size, asked) for name, made in _readers(asked, load).items()}
        for name, right_by_seed in right.items():
            run.figure(f"{name}_accuracy", [float(part.mean()) for part in right_by_seed])
        counts = {name: hit_counts(right_by_seed) for name, right_by_seed in right.items()}
        joint = counts.pop("joint")
        for name, other in counts.items():
            run.difference(f"joint_vs_{name}", paired_difference(joint, other))
        best = max(run.figures[f"{name}_accuracy"] for name in counts)
        run.figure("lead", round(run.figures["joint_accuracy"] - best, 4))


def _readers(
    asked: HiddenTypes, load: Callable[[], JointModel]
) -> dict[str, Callable[[], nn.Module]]:
    """Return what makes the readers that are compared."""
    graph, model = asked.graph, load()
    memory, texts = open_memory(model, graph), TextVectors(graph, fields=FIELDS)
    vectors = texts.take(np.arange(len(graph.entities)))
    size, fan_out = model.encoder.dimension, model.config.fan_out
    return {
        "joint": lambda: GraphReader(load(), graph, memory),
        "joint_off": lambda: GraphReader(load(), graph, memory, use_knowledge=False),
        "text_only": lambda: FixedVectors(vectors),
        "graph_only": lambda: GraphAlone(graph, size, fan_out),
        "gcn": lambda: PlainGcn(graph, vectors),
    }


def _right(made: Callable[[], nn.Module], size: int, asked: HiddenTypes) -> list[np.ndarray]:
    """Return which test entities are classified right, of each seed."""
    right_by_seed = []
    for seed in SEEDS:
        with seeded(seed):
            reader = made()
        settings = SETTINGS.replace(seed=seed)
        right_by_seed.append(classify_entities(reader, size, asked[1:], settings))
        print(type(reader).__name__, seed, right_by_seed[-1].mean(), flush=True)
    return right_by_seed


if __name__ == "__main__":
    main()
