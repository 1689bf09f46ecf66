"""What knowledge adds to a joint model on a task: on, off, and the difference with its interval.

The off side is fine-tuned in the same way on the same data. Strategies tell when a model gets to
know the graph: in pre-training, in fine-tuning, in both, or in fine-tuning with its losses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.graph import Graph
from kgraft.joint.fine_tuning import FineTuning
from kgraft.joint.model import JointModel
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress

LoadModel = Callable[[], JointModel]
MeasureTask = Callable[[FineTuning], np.ndarray]
"""Fine-tunes a joint model, and returns how right it is on each test example, (N,)."""


@dataclass(frozen=True)
class Strategy:
    """What a model has of the graph, and when."""

    pretrained: bool
    use_knowledge: bool  # in fine-tuning, vectors of entities are merged into what is read
    multi_task: bool = False  # and the two losses of the graph's side are learned along


STRATEGIES = {
    "none": Strategy(pretrained=False, use_knowledge=False),
    "pre-training": Strategy(pretrained=True, use_knowledge=False),
    "fine-tuning": Strategy(pretrained=False, use_knowledge=True),
    "both": Strategy(pretrained=True, use_knowledge=True),
    "multi-task": Strategy(pretrained=False, use_knowledge=True, multi_task=True),
}


def compare_knowledge(
    measure: MeasureTask,
    load: LoadModel,
    graph: Graph,
    *,
    seeds: int = 1,
    progress: Progress | None = None,
) -> Difference:
    """Fine-tune a joint model on a task with knowledge and without, and compare on test."""
    on, off = (
        [
            measure(FineTuning(load(), graph, seed, use_knowledge=side, progress=progress))
            for seed in range(seeds)
        ]
        for side in (True, False)
    )
    return paired_difference(hit_counts(on), hit_counts(off))


def compare_strategies(
    measure: MeasureTask,
    load: LoadModel,
    load_untrained: LoadModel,
    graph: Graph,
    *,
    seeds: int = 1,
    progress: Progress | None = None,
) -> dict[str, Difference]:
    """Fine-tune by each strategy, and compare with the encoder that never knew the graph.

    `load` returns the pre-trained model, `load_untrained` one of its shape that was not.
    """

    def tuning(strategy: Strategy, seed: int) -> FineTuning:
        model = load() if strategy.pretrained else load_untrained()
        return FineTuning(
            model,
            graph,
            seed,
            use_knowledge=strategy.use_knowledge,
            multi_task=strategy.multi_task,
            progress=progress,
        )

    counts = {
        name: hit_counts([measure(tuning(strategy, seed)) for seed in range(seeds)])
        for name, strategy in STRATEGIES.items()
    }
    none = counts.pop("none")
    return {name: paired_difference(hits, none) for name, hits in counts.items()}


def hit_counts(right: Sequence[np.ndarray]) -> np.ndarray:
    """Return hits and tries of each example over all seeds, (N, 2)."""
    total = np.sum(right, 0)
    return np.stack([total, np.full(len(total), len(right))], axis=1).astype(np.float64)
