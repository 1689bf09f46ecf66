"""Strategies: where a model starts from, and what it has of the graph in fine-tuning."""

import pytest
from benchmarks.joint.strategies import STRATEGIES, fine_tuning


@pytest.mark.parametrize(
    ("name", "start", "use_knowledge", "multi_task"),
    [
        ("none", "untrained", False, False),
        ("pre-training", "pretrained", False, False),
        ("fine-tuning", "untrained", True, False),
        ("both", "pretrained", True, False),
        ("multi-task", "untrained", True, True),
    ],
)
def test_what_a_strategy_fine_tunes(name, start, use_knowledge, multi_task):
    tuning = fine_tuning(STRATEGIES[name], lambda: "pretrained", lambda: "untrained", None, 7)
    assert (tuning.model, tuning.seed) == (start, 7)
    assert (tuning.use_knowledge, tuning.multi_task) == (use_knowledge, multi_task)
