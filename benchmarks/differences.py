"""What knowledge adds to a task: on, off, difference and interval, as benchmarks measured them.

A benchmark records this by the figures TASK_on, TASK_off, TASK_difference, TASK_low and TASK_high
(`Run.difference`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.harness import DIFFERENCE

PERPLEXITIES = ("linked", "hidden")  # tasks in which less is better


class TaskDifference(NamedTuple):
    """One task with knowledge and without; 95 % of intervals like this one hold the difference."""

    task: str
    on: float
    off: float
    difference: float
    low: float
    high: float

    @property
    def less_is_better(self) -> bool:
        """Whether knowledge helps where the difference is negative."""
        return self.task in PERPLEXITIES

    @property
    def is_significant(self) -> bool:
        """Whether the whole interval is on the side where knowledge helps."""
        return self.high < 0 if self.less_is_better else self.low > 0


def task_differences(figures: Mapping[str, float]) -> list[TaskDifference]:
    """Return the differences that the figures of a benchmark record."""
    tasks = [name.removesuffix("_difference") for name in figures if name.endswith("_difference")]
    complete = [task for task in tasks if all(f"{task}_{part}" in figures for part in DIFFERENCE)]
    return [
        TaskDifference(task, *(figures[f"{task}_{part}"] for part in DIFFERENCE))
        for task in complete
    ]


def difference_figures(figures: Mapping[str, float]) -> set[str]:
    """Return the names of the figures that `task_differences` reads."""
    tasks = [difference.task for difference in task_differences(figures)]
    return {f"{task}_{part}" for task in tasks for part in DIFFERENCE}


def difference_table(figures: Mapping[str, float], off: str = "") -> list[str]:
    """Return a Markdown table of the differences, its heading naming what stands on the off side.

    >>> difference_table(dict(a_on=3, a_off=1, a_difference=2, a_low=1, a_high=3), "no model")[0]
    '| task | on | off: no model | on minus off | 95 % interval |'
    """
    heading = f"| task | on | {off_heading(off)} | on minus off | 95 % interval |"
    rows = [
        f"| {row.task.replace('_', ' ')} | {row.on:.4g} | {row.off:.4g} | {row.difference:+.3g} "
        f"| {row.low:+.3g} to {row.high:+.3g} |"
        for row in task_differences(figures)
    ]
    return [heading, "| --- | --- | --- | --- | --- |", *rows, ""] if rows else []


def off_heading(off: str) -> str:
    """Return how a kind of off side is headed, `off` alone where it is not declared."""
    return f"off: {off}" if off else "off"
