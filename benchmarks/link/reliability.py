"""Reliability diagrams: of the links with a score, how many are right, by kind of text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

Judged = tuple[np.ndarray, np.ndarray]  # scores of links (n,), and which are right
BINS = 8
FEWEST = 10  # links of a point that is drawn


def draw_reliability(judged: Mapping[str, Judged], file: Path) -> None:
    """Draw one diagram per kind of text; a point on the diagonal is a score that means itself."""
    judged = {name: pair for name, pair in judged.items() if len(pair[0])}
    columns = 4
    rows = -(-len(judged) // columns)
    figure = Figure(figsize=(2.4 * columns, 2.5 * rows), layout="tight")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True)
    for ax in axes.flat[len(judged) :]:
        ax.set_visible(False)
    for ax, (name, (scores, right)) in zip(axes.flat, judged.items(), strict=False):
        mean, share, count = reliability(scores, right)
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        ax.scatter(mean, share, s=4 + 60 * count / count.sum(), color="tab:blue")
        ax.plot(mean, share, color="tab:blue", linewidth=1)
        ax.set(title=f"{name} ({len(scores)} links)", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.title.set_fontsize(9)
    figure.supxlabel("score of the link")
    figure.supylabel("share that is right")
    with rc_context({"svg.hashsalt": "kgraft"}):  # the same figures give the same file
        figure.savefig(file, metadata={"Date": None})


def reliability(scores: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean score, share of right links, and number of links, by bins of the score."""
    row = np.minimum((scores * BINS).astype(int), BINS - 1)
    count = np.bincount(row, minlength=BINS)
    kept = count >= FEWEST if (count >= FEWEST).any() else count > 0
    mean, share = (
        np.bincount(row, weights=values, minlength=BINS) / np.maximum(count, 1)
        for values in (scores, right)
    )
    return mean[kept], share[kept], count[kept]
