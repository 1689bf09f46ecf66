"""The picture: its format, its names that do not overlap, and what it refuses."""

import sys
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from kgraft.embed import plot
from kgraft.embed.plot import choose_entities, free_side, plot_vectors
from kgraft.errors import BadInput, MissingExtra
from kgraft.graph import Graph, TablesSource, build_graph

COUNT = 40
ODD = ["$x^2$ costs $5", "line\nbreak", "京都市", "हिन्दी 🎉", "a" * 90, ""]
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A star: e0 is connected with all, e1 with many, and so on."""
    place = tmp_path_factory.mktemp("graphs") / "star"
    labels = [*ODD, *(f"entity {i}" for i in range(len(ODD), COUNT))]
    entities = [
        {"id": f"e{i}", "label": label, "types": [["$even$", "odd"][i % 2]] if i % 5 else []}
        for i, label in enumerate(labels)
    ]
    triples = [(f"e{i}", "r", f"e{j}") for i in range(4) for j in range(i + 1, COUNT - 5 * i)]
    build_graph(TablesSource(triples, entities, [{"id": "r", "label": "r"}]), place)
    return Graph.open(place)


@pytest.fixture(scope="module")
def vectors():
    return torch.randn(COUNT, 8, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def quick(monkeypatch):
    """A coarse picture without t-SNE, which has tests of its own."""
    monkeypatch.setattr(plot, "DPI", 80)
    monkeypatch.setattr(plot, "project_vectors", lambda vectors, seed: vectors[:, :2].astype(float))


@pytest.fixture
def drawn(monkeypatch, quick):
    """The figures that are saved."""
    figures = []

    def savefig(figure, place, **options):
        figure.canvas.draw()
        figures.append(figure)
        place.write_bytes(b"picture")

    monkeypatch.setattr(Figure, "savefig", savefig)
    return figures


def test_the_best_connected_come_first(graph):
    degree = graph.adjacency.degree()
    chosen = choose_entities(graph, 10)
    assert chosen.tolist() == sorted(range(COUNT), key=lambda e: (-degree[e], e))[:10]
    assert len(choose_entities(graph)) == COUNT


@pytest.mark.slow
@pytest.mark.parametrize("suffix", STARTS)
def test_the_suffix_tells_the_picture_and_it_is_the_same_each_time(
    graph, vectors, tmp_path, suffix, quick
):
    chosen = choose_entities(graph, COUNT)
    for name in ("one", "two"):
        plot_vectors(graph, chosen, vectors, tmp_path / f"{name}{suffix}", title="A $ map")
    one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    assert one.read_bytes().startswith(STARTS[suffix])
    assert one.read_bytes() == two.read_bytes()
    assert sorted(tmp_path.iterdir()) == [one, two]


@pytest.mark.slow
def test_a_whole_picture_with_progress_leaves_matplotlib_as_it_was(graph, vectors, tmp_path):
    stages = []

    class Recorder:
        def start(self, what, total=None):
            stages.append([what, total, 0])

        def advance(self, amount=1):
            stages[-1][2] += amount

    before, pyplot = dict(mpl.rcParams), "matplotlib.pyplot" in sys.modules
    target = tmp_path / "new" / "MAP.PNG"
    plot_vectors(graph, np.arange(COUNT), vectors, target, progress=Recorder())
    assert target.stat().st_size > 10_000
    assert stages == [["placing entities", COUNT, COUNT], ["drawing", 1, 1]]
    assert dict(mpl.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == pyplot


@pytest.mark.parametrize("most", [0, 5, 40])
def test_names_are_those_of_the_best_connected_and_do_not_overlap(
    graph, vectors, tmp_path, drawn, most
):
    places = vectors.clone()
    places[30:, :2] = places[29, :2]  # a crowd in one place
    plot_vectors(graph, np.arange(COUNT), places, tmp_path / "a.png", labels=most)
    texts = drawn[0].axes[0].texts
    boxes = [text.get_window_extent() for text in texts]
    room = drawn[0].axes[0].get_window_extent()
    assert len(texts) == most if most < 40 else 20 < len(texts) < 40
    assert not any(a.padded(-0.5).overlaps(b) for a, b in combinations(boxes, 2))
    assert all(room.x0 <= b.x0 and b.x1 <= room.x1 for b in boxes)
    names = [text.get_text() for text in texts]
    assert names[:1] == ODD[:1] * bool(most)
    if most == 40:
        assert {"line break", "京都市", "a" * 27 + "…", "e5"} <= set(names)


def test_the_legend_names_the_groups_with_their_sizes(graph, vectors, tmp_path, drawn):
    plot_vectors(graph, np.arange(COUNT), vectors, tmp_path / "a.png")
    legend = drawn[0].legends[0]
    assert legend.get_title().get_text() == "Type"
    assert [t.get_text() for t in legend.get_texts()] == ["$even$  16", "odd  16", "other  8"]
    assert [t.get_text() for t in drawn[0].texts] == [
        "Entities of star", "40 of 40 entities, placed by t-SNE of their vectors",
    ]  # fmt: skip
    points = drawn[0].axes[0].collections
    assert [len(part.get_offsets()) for part in points] == [8, 16, 16]
    sizes = np.concatenate([part.get_sizes() for part in points])
    assert sizes.max() == 99


numbers = st.integers(0, 60)
boxes = st.tuples(numbers, numbers, st.integers(1, 30), st.integers(1, 30)).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.tuples(numbers, numbers), st.tuples(st.integers(1, 20), st.integers(1, 8)),
       st.lists(boxes, max_size=8))  # fmt: skip
def test_a_name_stands_at_the_first_free_side(point, size, taken):
    (x, y), (w, h), gap, room = point, size, 3, (0, 0, 70, 70)
    sides = [(x + gap, y - h / 2), (x - gap - w, y - h / 2), (x - w / 2, y + gap),
             (x - w / 2, y - gap - h)]  # fmt: skip

    def free(left, low):
        inside = left >= room[0] and low >= room[1] and left + w <= room[2] and low + h <= room[3]
        return inside and all(
            left + w <= b[0] or left >= b[2] or low + h <= b[1] or low >= b[3] for b in taken
        )

    expected = next((side for side in sides if free(*side)), None)
    given_boxes = np.array(taken, float).reshape(-1, 4)
    found = free_side(np.array(point), gap, np.array(size), given_boxes, np.array(room))
    assert (None if found is None else tuple(found.tolist())) == expected


# Bad input


@pytest.mark.parametrize("name", ["map.jpg", "map", "map.png.gz"])
def test_other_pictures_are_refused(graph, vectors, tmp_path, name):
    with pytest.raises(BadInput, match=r"\.png, \.svg, \.pdf"):
        plot_vectors(graph, np.arange(COUNT), vectors, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_vectors_that_do_not_fit_are_refused(graph, vectors, tmp_path):
    with pytest.raises(BadInput, match="no entities to draw"):
        plot_vectors(graph, np.arange(0), vectors[:0], tmp_path / "a.png")
    with pytest.raises(BadInput, match="40 vectors for 3 entities"):
        plot_vectors(graph, np.arange(3), vectors, tmp_path / "a.png")
    with pytest.raises(BadInput, match="not finite"):
        plot_vectors(graph, np.arange(3), vectors[:3] * torch.nan, tmp_path / "a.png")


@pytest.mark.parametrize("module", ["matplotlib", "sklearn"])
def test_a_missing_library_is_named_with_its_remedy(graph, vectors, tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"{module} .*pip install 'kgraft\[plot\]'"):
        plot_vectors(graph, np.arange(COUNT), vectors, tmp_path / "a.png")


def test_a_failure_leaves_what_was_there(graph, vectors, tmp_path, monkeypatch, quick):
    def savefig(figure, place, **options):
        place.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(Figure, "savefig", savefig)
    (tmp_path / "a.png").write_bytes(b"old")
    with pytest.raises(OSError, match="No space"):
        plot_vectors(graph, np.arange(COUNT), vectors, tmp_path / "a.png")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
