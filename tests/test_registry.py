"""Registries know names without an import, and load what is asked for."""

import sys
from importlib.metadata import EntryPoint

import pytest

from kgraft.errors import BadInput
from kgraft.registry import Registry


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    package = tmp_path / "shapes_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from kgraft.registry import Registry\n"
        "SHAPES = Registry('shape', package=__name__, group='kgraft.shapes')\n"
    )
    for name in ("circle", "long_line"):
        title = name.replace("_", "-")
        (package / f"{name}.py").write_text(
            f"from shapes_of_a_test import SHAPES\nSHAPES.register({title!r})({name!r})\n"
        )
    (package / "empty.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    from shapes_of_a_test import SHAPES

    yield SHAPES
    for name in [name for name in sys.modules if name.startswith("shapes_of_a_test")]:
        del sys.modules[name]


def test_names_are_known_without_an_import(shapes):
    assert shapes.names() == list(shapes) == ["circle", "empty", "long-line"]
    assert "circle" in shapes
    assert "square" not in shapes
    assert "shapes_of_a_test.circle" not in sys.modules


def test_what_is_asked_for_is_imported(shapes):
    assert shapes["circle"] == "circle"
    assert shapes["long-line"] == "long_line"
    assert "shapes_of_a_test.empty" not in sys.modules


def test_what_is_not_there_is_refused_with_what_there_is(shapes):
    with pytest.raises(BadInput, match=r"'square'.*circle, empty, long-line"):
        shapes["square"]
    with pytest.raises(BadInput, match="empty"):
        shapes["empty"]


def test_other_distributions_add_by_entry_points(shapes, monkeypatch):
    point = EntryPoint("square", "math:tau", "kgraft.shapes")
    monkeypatch.setattr("kgraft.registry.entry_points", lambda group: [point])
    assert shapes.names() == ["circle", "empty", "long-line", "square"]
    assert shapes["square"] == pytest.approx(6.283185)


def test_a_registry_may_be_filled_by_hand():
    numbers = Registry("number", package="json", group="none")

    @numbers.register("one")
    def one():
        return 1

    assert numbers["one"] is one
