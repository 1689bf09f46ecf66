"""Draws results: what knowledge adds to each task, and what each pre-training loss contributes.

A chart is made in two steps: results are read into panels, and panels are drawn. The digest of the
panels is written into the SVG file, so that a picture of older results is noticed without drawing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.differences import TaskDifference, task_differences
from benchmarks.harness import OFF_SIDES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from benchmarks.harness import Benchmark

TITLES = {
    "graft_downstream": "Fine-tuned tasks",
    "graft_facts": "Facts recalled by cloze (MRR)",
    "graft_lm": "Masked words of Wikipedia (perplexity, less is better)",
    "graft_wsd": "Word senses (F1)",
    "joint_classify": "Types of entities (accuracy)",
    "joint_fewrel": "Relations from few examples (accuracy)",
    "joint_metaqa": "Questions over a graph of movies (Hits@1)",
    "joint_strategies": "Relations, by when the model gets to know the graph (accuracy)",
    "joint_unseen": "Graphs not seen in pre-training (accuracy, Hits@1)",
}
CONTRIBUTION = re.compile(r"(\w+)_contribution_of_(\w+)")
ON, OFF, AGAINST = "#2f7d5b", "#b8c4cf", "#b5533c"
WIDTH, ROW, PANEL = 9.0, 0.36, 0.72  # inches: the picture; one task; title and axis of a panel
LEGEND = (
    "Left: on (green) and off (grey). Right: on minus off with its 95 % interval, "
    "bold where all of it says that knowledge helps."
)


class DifferencePanel(NamedTuple):
    """One benchmark: its title, the kind of its off side, and its tasks."""

    title: str
    off: str
    tasks: list[TaskDifference]


class LossPanel(NamedTuple):
    """One task: by how much its figure falls when a loss is left out, by loss."""

    task: str
    contributions: list[tuple[str, float]]


def difference_panels(
    results: Path, pattern: str, benchmarks: Sequence[Benchmark]
) -> list[DifferencePanel]:
    """Return one panel per result that records differences."""
    off_sides = {benchmark.name: benchmark.off for benchmark in benchmarks}
    panels = []
    for path in sorted(results.glob(pattern)):
        tasks = task_differences(json.loads(path.read_text(encoding="utf-8"))["figures"])
        title = TITLES.get(path.stem, path.stem.replace("_", " "))
        if tasks:
            panels.append(DifferencePanel(title, off_sides.get(path.stem, ""), tasks))
    return panels


def loss_panels(path: Path) -> list[LossPanel]:
    """Return one panel per task of which a result records TASK_contribution_of_LOSS."""
    if not path.exists():
        return []
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
    tasks: dict[str, list[tuple[str, float]]] = {}
    for name, value in figures.items():
        if match := CONTRIBUTION.match(name):
            tasks.setdefault(match[1], []).append((match[2], value))
    return [LossPanel(task, contributions) for task, contributions in tasks.items()]


def draw_differences(panels: Sequence[DifferencePanel]) -> Figure:
    """Draw bars of on and off beside their difference with its interval."""
    from matplotlib.figure import Figure

    heights = [PANEL + ROW * len(panel.tasks) for panel in panels]
    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    axes = figure.subplots(len(panels), 2, squeeze=False, height_ratios=heights)
    for panel, (bars, interval) in zip(panels, axes, strict=True):
        _draw_bars(bars, panel)
        _draw_intervals(interval, panel)
    figure.supxlabel(LEGEND, fontsize=8, color="0.35")
    return figure


def _draw_bars(axes: Axes, panel: DifferencePanel) -> None:
    """Draw what was measured with knowledge, and without."""
    off = OFF_SIDES.get(panel.off, "without knowledge")
    title = axes.set_title(f"{panel.title}\n", loc="left", fontsize=10, fontweight="bold")
    label = axes.text(0, 1.03, f"off: {off}", transform=axes.transAxes, fontsize=8, color="0.35")
    for text in (title, label):
        text.set_in_layout(False)  # it may be longer than its panel is wide
    for row, task in enumerate(panel.tasks):
        for shift, value, colour in ((-0.19, task.on, ON), (0.19, task.off, OFF)):
            axes.barh(row + shift, value, height=0.36, color=colour)
            axes.text(value, row + shift, f" {value:.3g}", va="center", fontsize=7)
    _label_tasks(axes, [task.task.replace("_", " ") for task in panel.tasks])
    axes.margins(x=0.12)
    axes.set_xticks([])


def _draw_intervals(axes: Axes, panel: DifferencePanel) -> None:
    """Draw on minus off with its interval, filled where the whole interval says that it helps."""
    axes.axvline(0, color="0.6", linewidth=1)
    for row, task in enumerate(panel.tasks):
        colour = ON if task.is_significant else "0.4"
        axes.plot([task.low, task.high], [row, row], color=colour, linewidth=2)
        axes.plot(
            task.difference, row, "o", color=colour, markersize=6,
            markerfacecolor=colour if task.is_significant else "white",
        )  # fmt: skip
        text = f"{task.difference:+.3g} ({task.low:+.3g} to {task.high:+.3g})"
        axes.text(
            1.02, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8,
            fontweight="bold" if task.is_significant else "normal",
        )  # fmt: skip
    _label_tasks(axes, [""] * len(panel.tasks))
    axes.margins(x=0.15)
    axes.tick_params(axis="x", labelsize=7)


def draw_losses(panels: Sequence[LossPanel]) -> Figure:
    """Draw a bar per loss: to the right where the task needs it, to the left where it is harmed."""
    from matplotlib.figure import Figure

    rows = max(len(panel.contributions) for panel in panels)
    figure = Figure(figsize=(WIDTH, PANEL + ROW * rows), layout="constrained")
    for axes, panel in zip(
        figure.subplots(1, len(panels), squeeze=False, sharex=True)[0], panels, strict=True
    ):
        axes.set_title(panel.task, loc="left", fontsize=10, fontweight="bold")
        axes.axvline(0, color="0.6", linewidth=1)
        for row, (_, value) in enumerate(panel.contributions):
            axes.barh(row, value, height=0.6, color=ON if value >= 0 else AGAINST)
            side = "left" if value >= 0 else "right"
            axes.text(value, row, f" {value:+.3f} ", va="center", ha=side, fontsize=8)
        _label_tasks(axes, [loss for loss, _ in panel.contributions])
        axes.margins(x=0.25)
    figure.supxlabel("accuracy lost when the loss is left out", fontsize=8)
    return figure


def _label_tasks(axes: Axes, labels: list[str]) -> None:
    """Name the rows, the first one on top, and leave only the line at the bottom."""
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=7)
    axes.spines[["top", "left", "right"]].set_visible(False)


def digest_mark(panels: Sequence[DifferencePanel | LossPanel]) -> str:
    """Return the mark by which a picture says what it was drawn of."""
    text = json.dumps(panels, ensure_ascii=False)
    return f"figures {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def draw(panels: list[DifferencePanel] | list[LossPanel], file: Path) -> None:
    """Draw panels into an SVG file; the same panels give the same file."""
    from matplotlib import rc_context

    losses = [panel for panel in panels if isinstance(panel, LossPanel)]
    differences = [panel for panel in panels if isinstance(panel, DifferencePanel)]
    with rc_context({"svg.hashsalt": "kgraft", "svg.fonttype": "none"}):
        figure = draw_losses(losses) if losses else draw_differences(differences)
        metadata = {"Date": None, "Description": digest_mark(panels)}
        figure.savefig(file, format="svg", metadata=metadata)
