"""What knowledge adds to a joint model on a task: on, off, and the difference with its interval.

The off side is fine-tuned in the same way on the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kgraft.graph import Graph
from kgraft.joint.fine_tuning import FineTuning
from kgraft.joint.model import JointModel
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress

LoadModel = Callable[[], JointModel]
MeasureTask = Callable[[FineTuning], np.ndarray]
"""Fine-tunes a joint model, and returns how right it is on each test example, (N,)."""


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


def hit_counts(right: Sequence[np.ndarray]) -> np.ndarray:
    """Return hits and tries of each example over all seeds, (N, 2)."""
    total = np.sum(right, 0)
    return np.stack([total, np.full(len(total), len(right))], axis=1).astype(np.float64)
