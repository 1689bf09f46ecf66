"""How little a new graft changes its host: python -m benchmarks.graft.start."""

from __future__ import annotations

import torch

from benchmarks.graft.speed import LAYER, drawn_ids, drawn_mentions
from benchmarks.harness import Benchmark, Goal
from kgraft.graft import GraphKnowledge, attach, detach
from kgraft.graph import Graph
from kgraft.text import Encoder
from kgraft.vectors import TextVectors

BENCHMARK = Benchmark(
    name="graft_start",
    measures="how little a new graft changes the output of its host",
    minutes=2,
)

SEEDS = range(5)
PROTOCOL = """
The default encoder reads 32 windows of 128 random tokens with 30 mentions and 30 candidates each,
before and right after grafting the built-in graph. relative_change: the length of the difference of
the two outputs over that of the host's, all tokens together; the largest of five seeds and of the
layers 1 to 5.
"""
GOALS: dict[str, Goal] = {"relative_change": {"at_most": 0.05}}


def main() -> None:
    """Measure and record."""
    world = Graph.open("world")
    knowledge = GraphKnowledge(world, TextVectors(world))
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "synthetic windows; built-in graph world"},
        seeds=list(SEEDS),
        goals=GOALS,
    ) as run:
        host, changes = Encoder.load().model, []
        for seed in SEEDS:
            ids, mentions = drawn_ids(seed), drawn_mentions(seed, knowledge.count)
            for layer in range(1, LAYER + 1):
                with torch.no_grad():
                    before = host(input_ids=ids).last_hidden_state
                    attach(host, {layer: knowledge}, seed=seed)
                    after = host(input_ids=ids, knowledge=mentions).last_hidden_state
                detach(host)
                changes.append(float((after - before).norm() / before.norm()))
        run.figure("relative_change", changes, value=round(max(changes), 5))


if __name__ == "__main__":
    main()
