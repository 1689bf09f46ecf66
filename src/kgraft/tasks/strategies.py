"""When a model gets to know the graph: strategies of injection, compared on a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress
from kgraft.tasks.joint_tasks import (
    JOINT_TASKS,
    OF_GRAPH,
    FineTuning,
    Load,
    hits,
    refuse_without_data,
)


@dataclass(frozen=True)
class Strategy:
    """What a model has of the graph, and when."""

    pretrained: bool
    merged: bool  # in fine-tuning, vectors of entities are merged into what is read
    beside: bool = False  # and the two losses of the graph's side are learnt beside the task


STRATEGIES = {
    "none": Strategy(pretrained=False, merged=False),
    "pre-training": Strategy(pretrained=True, merged=False),
    "fine-tuning": Strategy(pretrained=False, merged=True),
    "both": Strategy(pretrained=True, merged=True),
    "multi-task": Strategy(pretrained=False, merged=True, beside=True),
}


def compare_strategies(
    task: str,
    load: Load,
    fresh: Load,
    graph: Graph,
    data: Path | None = None,
    *,
    seeds: int = 1,
    progress: Progress | None = None,
) -> dict[str, Difference]:
    """Fine-tune by each strategy, and compare with the encoder that never knew the graph.

    `load` gives the pre-trained model, `fresh` one like it that was not.
    """
    refuse_without_data(task, data)
    if task in OF_GRAPH:
        remedy = "choose relations or questions"
        raise BadInput(f"{task} are asked of the graph alone, without a text", remedy=remedy)

    def tuning(way: Strategy, seed: int) -> FineTuning:
        model = load() if way.pretrained else fresh()
        return FineTuning(
            model, graph, seed, knowing=way.merged, beside=way.beside, progress=progress
        )

    counts = {
        name: hits([JOINT_TASKS[task](tuning(way, seed), data) for seed in range(seeds)])
        for name, way in STRATEGIES.items()
    }
    none = counts.pop("none")
    return {name: paired_difference(found, none) for name, found in counts.items()}
