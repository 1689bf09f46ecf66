"""A map of entities as a picture: points in colours, the best-connected with their names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from kgraft.arrays import run_starts
from kgraft.columns import take_rows
from kgraft.embed.map import Groups, group_entities, project_vectors
from kgraft.errors import BadInput, import_optional
from kgraft.graph import Graph
from kgraft.progress import Progress, Silent
from kgraft.storage import new_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

SUFFIXES = (".png", ".svg", ".pdf")
WIDTH, MARGIN, SIDE, HEAD = 12.0, 0.3, 2.6, 1.0  # inches: the picture, and what surrounds the map
DPI = 140
COLOURS = ("#2f6fde", "#e8590c", "#2b9348", "#b5179e", "#e0a100", "#0aa5b5", "#d62839", "#7048c6")
GREY, INK, PALE = "#b8bec7", "#1f2933", "#6b7785"
LONGEST = 28  # characters of a label
GAP = 4.0  # pixels between a point and its label
_TRIES = 8  # points looked at for each label to write
FONTS = ("Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans CJK SC",
         "PingFang SC", "Microsoft YaHei", "Noto Sans", "Noto Sans Devanagari")  # fmt: skip


def choose_entities(graph: Graph, limit: int = 2000) -> np.ndarray:
    """Return the indices of the best-connected entities, the best first."""
    return np.argsort(-graph.adjacency.degree(), kind="stable")[:limit]


def plot_vectors(
    graph: Graph,
    entities: np.ndarray,
    vectors: Tensor,
    target: Path,
    *,
    labels: int = 60,
    title: str = "",
    seed: int = 0,
    progress: Progress | None = None,
) -> None:
    """Draw a map of entities, by index (n,), with their vectors (n, D), as PNG, SVG or PDF.

    Colours are types, those that cover most entities; in a graph without types, the relation that
    each entity has most triples of. Up to `labels` of the best-connected are named, as far as there
    is room.
    """
    suffix = _checked(target, entities, vectors)
    import_optional("matplotlib", "plot")
    import_optional("sklearn", "plot")
    progress = progress or Silent()
    progress.start("placing entities", len(entities))
    points = project_vectors(vectors.detach().float().cpu().numpy(), seed=seed)
    progress.advance(len(entities))
    progress.start("drawing", 1)
    with _style():
        title = title or f"Entities of {graph.manifest.name}"
        _save(_draw(graph, entities, points, labels, title), target, suffix)
    progress.advance()


@contextmanager
def _style() -> Iterator[None]:
    """Set the fonts; a sign that none of them has is drawn as a box, without a warning."""
    import matplotlib as mpl
    from matplotlib.font_manager import get_font_names

    fonts = [name for name in FONTS if name in get_font_names()]
    options: Any = {"font.family": fonts, "svg.hashsalt": "kgraft"}
    with mpl.rc_context(options), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        yield


def _checked(target: Path, entities: np.ndarray, vectors: Tensor) -> str:
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadInput(
            f"{target.name} is not a picture that can be drawn",
            remedy=f"end its name in one of {', '.join(SUFFIXES)}",
        )
    if not len(entities):
        raise BadInput("there are no entities to draw", remedy="choose at least one")
    if len(entities) != len(vectors):
        raise BadInput(f"there are {len(vectors)} vectors for {len(entities)} entities")
    if not vectors.isfinite().all():
        raise BadInput("vectors are not finite numbers", remedy="train them again")
    return suffix


def _draw(
    graph: Graph, entities: np.ndarray, points: np.ndarray, labels: int, title: str
) -> Figure:
    figure, axes = _canvas(points)
    groups = group_entities(graph, entities, most=len(COLOURS))
    degree = graph.adjacency.degree(entities=entities)
    weight = np.sqrt(degree / max(degree.max(), 1))
    _draw_points(axes, points, groups, weight)
    _draw_title(figure, title, _below(graph, entities))
    _draw_legend(figure, groups)
    order = _spread(points, degree)
    taken = take_rows(graph.entities.select(["id", "label"]), entities[order])
    names = zip(taken["id"].to_pylist(), taken["label"].to_pylist(), strict=True)
    shown = [_short(label or key) for key, label in names]
    _draw_labels(axes, points[order], shown, weight[order], most=labels)
    return figure


def _below(graph: Graph, entities: np.ndarray) -> str:
    shown = f"{len(entities):,} of {len(graph.entities):,} entities"
    return f"{shown}, placed by t-SNE of their vectors"


def _canvas(points: np.ndarray) -> tuple[Figure, Axes]:
    """Return a picture as high as the map needs, with room for it, the title and the legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = WIDTH - SIDE - 2 * MARGIN
    extent = np.maximum(np.ptp(points, axis=0), 1e-12)
    height = width * float(np.clip(extent[1] / extent[0], 0.55, 1.0))
    total = height + HEAD + MARGIN
    figure = Figure(figsize=(WIDTH, total), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    inches = MARGIN / WIDTH, MARGIN / total, width / WIDTH, height / total
    axes = figure.add_axes(inches)
    axes.set_axis_off()
    axes.margins(0.03)
    axes.set_aspect("equal", adjustable="datalim")
    return figure, axes


def _draw_points(axes: Axes, points: np.ndarray, groups: Groups, weight: np.ndarray) -> None:
    """Draw the best-connected larger; what has no group lies below the rest."""
    area = _area(weight)
    for number in range(-1, len(groups.names)):
        those = groups.group == number
        axes.scatter(
            points[those, 0],
            points[those, 1],
            s=area[those],
            color=_colour(number),
            alpha=0.45 if number < 0 else 0.75,
            linewidths=0.4,
            edgecolors="white",
            zorder=1 if number < 0 else 2,
        )


def _area(weight: np.ndarray) -> np.ndarray:
    """Return the area of points in square points (1/72 inch)."""
    return 9 + 90 * weight


def _draw_title(figure: Figure, title: str, below: str) -> None:
    x, high = MARGIN / WIDTH, figure.get_figheight()
    title = _short(title, 70)
    figure.text(x, 1 - 0.55 / high, title, size=19, weight="bold", color=INK, parse_math=False)
    figure.text(x, 1 - 0.82 / high, below, size=10.5, color=PALE)


def _draw_legend(figure: Figure, groups: Groups) -> None:
    """Name the colours at the right, each with how many entities it has."""
    from matplotlib.lines import Line2D

    entries = _legend_entries(groups)
    dots = [
        Line2D([], [], marker="o", linestyle="", markersize=8, color=_colour(number))
        for number in entries
    ]
    legend = figure.legend(
        dots,
        list(entries.values()),
        title=groups.kind.capitalize(),
        loc="upper left",
        bbox_to_anchor=(1 - SIDE / WIDTH, 1 - HEAD / figure.get_figheight()),
        frameon=False,
        alignment="left",
        labelcolor=INK,
        labelspacing=0.8,
        handletextpad=0.3,
        fontsize=10.5,
        title_fontproperties={"weight": "bold", "size": 10.5},
    )
    legend.get_title().set_color(INK)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _legend_entries(groups: Groups) -> dict[int, str]:
    """Return the words for each group that has entities, by its number; -1 is for the others."""
    count = np.bincount(groups.group + 1, minlength=len(groups.names) + 1)
    names = {**dict(enumerate(groups.names)), -1: "other"}
    return {
        number: f"{_short(name, 22)}  {count[number + 1]:,}"
        for number, name in names.items()
        if count[number + 1]
    }


def _colour(number: int) -> str:
    return GREY if number < 0 else COLOURS[number]


def _short(text: str, longest: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


# Names on the map


def _spread(points: np.ndarray, degree: np.ndarray, *, cells: int = 6) -> np.ndarray:
    """Order entities so that each part of the map has its turn: first the best of each cell."""
    low, high = points.min(0), points.max(0)
    cell = np.minimum((points - low) / np.maximum(high - low, 1e-12) * cells, cells - 1).astype(int)
    key = cell @ [cells, 1]
    order = np.lexsort((-degree, key))
    starts = np.maximum.accumulate(np.where(run_starts(key[order]), np.arange(len(key)), 0))
    turn = np.empty(len(key), int)
    turn[order] = np.arange(len(key)) - starts
    return np.lexsort((-degree, turn))


def _draw_labels(
    axes: Axes, points: np.ndarray, names: Sequence[str], weight: np.ndarray, *, most: int
) -> None:
    """Write names in order, each at the first side of its point where nothing is in the way."""
    axes.apply_aspect()
    pixels = axes.transData.transform(points)  # (n, 2)
    radius = np.sqrt(_area(weight)) / 2 * DPI / 72
    room = np.array(axes.get_window_extent().extents)
    taken = np.zeros((0, 4))
    for i in range(min(len(names), _TRIES * most)):
        text = _write(axes, names[i], points[i], 8 + 3 * float(weight[i]))
        box = _put_beside(text, pixels[i], float(radius[i]), taken, room)
        if box is None:
            text.remove()
            continue
        dot = [*(pixels[i] - radius[i]), *(pixels[i] + radius[i])]
        taken = np.vstack([taken, box, dot])
        if len(taken) == 2 * most:
            break


def _put_beside(
    text: Annotation, pixel: np.ndarray, radius: float, taken: np.ndarray, room: np.ndarray
) -> list[float] | None:
    """Move a name to a free side of its point, and return the box it covers; None if all are."""
    size = np.array(text.get_window_extent().size)
    corner = free_side(pixel, radius + GAP, size, taken, room)
    if corner is None:
        return None
    text.xyann = tuple((corner - pixel) * 72 / DPI)
    return [*corner, *(corner + size)]


def _write(axes: Axes, name: str, point: np.ndarray, size: float) -> Annotation:
    from matplotlib.patheffects import withStroke

    return axes.annotate(
        name,
        (float(point[0]), float(point[1])),
        xytext=(0, 0),
        textcoords="offset points",
        va="bottom",
        size=size,
        color=INK,
        zorder=3,
        parse_math=False,
        path_effects=[withStroke(linewidth=2.2, foreground="white", alpha=0.9)],
    )


def free_side(
    point: np.ndarray, gap: float, size: np.ndarray, taken: np.ndarray, room: np.ndarray
) -> np.ndarray | None:
    """Return the lower left corner for a box at the right, left, above or below a point, or None.

    `taken` (k, 4) and `room` (4,) are boxes: left, bottom, right, top.
    """
    width, height = size
    sides = ((gap, -height / 2), (-gap - width, -height / 2), (-width / 2, gap),
             (-width / 2, -gap - height))  # fmt: skip
    for side in sides:
        low = point + side
        high = low + size
        inside = (low >= room[:2]).all() and (high <= room[2:]).all()
        if inside and not ((low < taken[:, 2:]) & (high > taken[:, :2])).all(1).any():
            return np.asarray(low)
    return None


def _save(figure: Figure, target: Path, suffix: str) -> None:
    """Write the picture, the same bytes each time."""
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with new_file(target) as partial:
        figure.savefig(partial, format=suffix[1:], metadata=undated.get(suffix))
