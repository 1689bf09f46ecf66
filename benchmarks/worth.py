"""What knowledge is worth, by all results that tell it: a table of each, and one picture of all.

A benchmark tells it of a task by the figures TASK_on, TASK_off, TASK_difference, TASK_low and
TASK_high (`Benchmark.difference`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

PARTS = ("on", "off", "difference", "low", "high")
LESS_IS_BETTER = ("linked", "hidden")  # perplexities
TITLES = {
    "graft_downstream": "fine-tuned",
    "graft_facts": "facts recalled (MRR)",
    "graft_lm": "hidden words (perplexity)",
    "graft_wsd": "word senses (F1)",
    "joint_classify": "types of entities",
    "joint_fewrel": "relations by few examples",
    "joint_metaqa": "questions (Hits@1)",
    "joint_strategies": "relations, the graph known by",
    "joint_unseen": "pre-trained on another graph",
}  # of benchmarks, for people
WIDTH, ROW, LEFT, BAR = 840, 46, 210, 300
ON, OFF, INK, QUIET = "#2f7d5b", "#b8c4cf", "#1c2733", "#66727f"


class Worth(NamedTuple):
    """What knowledge is worth on a task: on minus off is in the interval in 95 of 100 cases."""

    task: str
    on: float
    off: float
    difference: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether the whole interval says that it helps."""
        return self.high < 0 if self.task in LESS_IS_BETTER else self.low > 0


def worths(figures: Mapping[str, float]) -> list[Worth]:
    """Return what the figures of a benchmark say of tasks."""
    tasks = [name.removesuffix("_difference") for name in figures if name.endswith("_difference")]
    told = (t for t in tasks if all(f"{t}_{part}" in figures for part in PARTS))
    return [Worth(task, *(figures[f"{task}_{part}"] for part in PARTS)) for task in told]


def worth_names(figures: Mapping[str, float]) -> set[str]:
    """Return the figures that `worths` is made of."""
    return {f"{worth.task}_{part}" for worth in worths(figures) for part in PARTS}


def worth_table(figures: Mapping[str, float]) -> list[str]:
    """Return a Markdown table of what knowledge is worth on the tasks of a benchmark."""
    head = "| task | on | off | on minus off | 95 % interval |\n| --- | --- | --- | --- | --- |"
    rows = [
        f"| {w.task.replace('_', ' ')} | {w.on:.4g} | {w.off:.4g} | {w.difference:+.3g} "
        f"| {w.low:+.3g} to {w.high:+.3g} |"
        for w in worths(figures)
    ]
    return [head, *rows, ""] if rows else []


def worth_picture(results: Path, names: str) -> str | None:
    """Return all tasks of some results as an SVG, None where none tells of one."""
    rows = list(_all(results, names))
    if not rows:
        return None
    height = 44 + ROW * len(rows)
    body = "\n".join(_row(*held, 34 + ROW * number) for number, held in enumerate(rows))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"
 width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">
<rect width="{WIDTH}" height="{height}" fill="#fff"/>
<text x="{LEFT}" y="20" fill="{ON}" font-weight="600">knowledge on</text>
<text x="{LEFT + 110}" y="20" fill="{QUIET}" font-weight="600">off</text>
<text x="{LEFT + BAR + 70}" y="20" font-weight="600">on minus off, 95 % interval</text>
{body}
</svg>
"""


def _all(results: Path, names: str) -> Iterator[tuple[str, Worth]]:
    """Yield all that results tell, with the title of the benchmark."""
    for path in sorted(results.glob(names)):
        for worth in worths(json.loads(path.read_text(encoding="utf-8"))["figures"]):
            yield TITLES.get(path.stem, path.stem.replace("_", " ")), worth


def _row(title: str, worth: Worth, y: int) -> str:
    """Return the bars and figures of a task, each task to its own scale."""
    scale = BAR / max(worth.on, worth.off, 1e-9)
    less = ", less is better" if worth.task in LESS_IS_BETTER else ""
    name = escape(worth.task.replace("_", " ") + less)
    weight = ' font-weight="600"' if worth.sure else ""
    span = f"{worth.difference:+.3g}  ({worth.low:+.3g} to {worth.high:+.3g})"
    return f"""<text x="10" y="{y + 16}">{escape(title)}</text>
<text x="10" y="{y + 31}" font-size="11" fill="{QUIET}">{name}</text>
<rect x="{LEFT}" y="{y + 4}" width="{worth.on * scale:.1f}" height="13" rx="2" fill="{ON}"/>
<text x="{LEFT + worth.on * scale + 6:.1f}" y="{y + 15}" font-size="11">{worth.on:.3g}</text>
<rect x="{LEFT}" y="{y + 20}" width="{worth.off * scale:.1f}" height="13" rx="2" fill="{OFF}"/>
<text x="{LEFT + worth.off * scale + 6:.1f}" y="{y + 31}" font-size="11">{worth.off:.3g}</text>
<text x="{LEFT + BAR + 70}" y="{y + 23}"{weight}>{span}</text>"""
