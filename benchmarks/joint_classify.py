"""The types of entities by text and structure: python -m benchmarks.joint_classify (wikidata)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from benchmarks.graph_baselines import GraphAlone, PlainGcn
from benchmarks.harness import Benchmark, Goal, shared_data
from benchmarks.joint_wikipedia import SEEDS, Untold, fresh, pretrained, untold_types
from kgraft.joint import JointModel, open_memory
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks.entity_classes import EntitySettings, EntityTrainee, GraphReader
from kgraft.tasks.joint_tasks import hits
from kgraft.training import Schedule, train_in_passing
from kgraft.training.seeds import seeded

PROTOCOL = """
Accuracy of the type of an entity of graphs/wikidata among its 50 most frequent ones; 20 % of the
typed entities to learn from, 20 % to choose by, 60 % to measure on, whose types the graph does not
tell. joint: the lower half of the encoder and the graph attention, pre-trained (see
joint_wikipedia); the attention is fine-tuned, 8 then 4 edges of an entity are looked at. text_only:
the same model without its graph attention. graph_only: graph attention without any text, from which
relations are around an entity. gcn: a plain GCN over the vectors of texts that the default encoder
gives. All with the same classifier, steps and three seeds. lead is joint over the best of the
others; the differences have their interval over entities, seeds pooled.
"""
GOALS: dict[str, Goal] = {"lead": {"at_least": 0.02}}
SETTINGS = EntitySettings()


def main() -> None:
    """Train, measure and record."""
    data = shared_data()
    if data is None:
        return
    asked, load = untold_types(data), pretrained(data)
    with Benchmark(
        "joint_classify",
        protocol=PROTOCOL,
        data={"name": "wikidata", "sha256": sha256(data / "graphs" / "wikidata" / "entities.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        right = {name: _right(made, asked) for name, made in _readers(asked, load).items()}
        for name, found in right.items():
            run.figure(f"{name}_accuracy", [float(part.mean()) for part in found])
        counts = {name: hits(found) for name, found in right.items()}
        joint = counts.pop("joint")
        for name, other in counts.items():
            run.difference(f"joint_vs_{name}", paired_difference(joint, other))
        best = max(run.figures[f"{name}_accuracy"] for name in counts)
        run.figure("lead", round(run.figures["joint_accuracy"] - best, 4))


def _readers(asked: Untold, load: Callable[[], JointModel]) -> dict[str, Callable[[], nn.Module]]:
    """Return what makes the readers that are compared."""
    graph, plain = asked.graph, fresh(asked.graph)
    memory, texts = open_memory(load(), graph), open_memory(plain, graph).held("entities")
    size, fan_out = plain.encoder.dimension, plain.config.fan_out
    return {
        "joint": lambda: GraphReader(load(), graph, memory),
        "text_only": lambda: GraphReader(load(), graph, memory, knowing=False),
        "graph_only": lambda: GraphAlone(graph, size, fan_out),
        "gcn": lambda: PlainGcn(graph, torch.from_numpy(np.array(texts))),
    }


def _right(made: Callable[[], nn.Module], asked: Untold) -> list[np.ndarray]:
    """Return which test entities are classified right, of each seed."""
    found = []
    for seed in SEEDS:
        with seeded(seed):
            reader = made()
        settings = replace(SETTINGS, seed=seed)
        trainee = EntityTrainee(reader, 384, asked.learnt, asked.valid, settings)
        schedule = Schedule(epochs=settings.epochs, watch="accuracy", patience=settings.patience)
        train_in_passing(trainee, schedule)
        found.append(trainee.right(asked.test))
        print(type(reader).__name__, seed, found[-1].mean(), flush=True)
    return found


if __name__ == "__main__":
    main()
