"""Errors for users: one line with the place, the reason and the remedy."""

import builtins
import sys

import pytest

from kgraft import KgraftError
from kgraft.errors import BadGraph, BadInput, MissingExtra, NotFound, import_optional


@pytest.mark.parametrize("kind", [BadInput, BadGraph, NotFound, MissingExtra])
def test_all_are_ours_and_say_what_they_were_given(kind):
    assert issubclass(kind, KgraftError)
    assert str(kind("something is wrong")) == "something is wrong"


def test_what_is_not_found_is_a_key_error_in_plain_words():
    with pytest.raises(KeyError) as raised:
        raise NotFound("no 'x' here")
    assert str(raised.value) == "no 'x' here"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, "too long"),
        ({"file": "a.tsv"}, "a.tsv: too long"),
        ({"file": "a.tsv", "line": 3}, "a.tsv:3: too long"),
        ({"file": "a.tsv", "line": 3, "remedy": "cut it"}, "a.tsv:3: too long; cut it"),
        ({"remedy": "cut it"}, "too long; cut it"),
        ({"line": 3}, "too long"),
    ],
)
def test_bad_input_names_place_reason_and_remedy(place, expected):
    error = BadInput("too long", **place)
    assert str(error) == expected
    assert error.reason == "too long"
    assert (error.file, error.line) == (place.get("file"), place.get("line"))
    assert error.remedy == place.get("remedy", "")


def test_need_imports_what_is_there():
    assert import_optional("json", "rdf") is sys.modules["json"]
    assert import_optional("importlib.metadata", "rdf").__name__ == "importlib.metadata"


def test_need_says_the_command_that_brings_what_is_missing():
    with pytest.raises(MissingExtra) as error:
        import_optional("no_such_module", "rdf")
    assert str(error.value) == "no_such_module is not installed; run: pip install 'kgraft[rdf]'"
    assert isinstance(error.value.__cause__, ImportError)


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("networkx", "networkx", "from kgraft.graph import to_networkx; to_networkx(graph)"),
        (
            "pyoxigraph",
            "rdf",
            "from kgraft.graph import open_source, build_graph; build_graph(open_source(nt), out)",
        ),
    ],
)
def test_optional_packages_are_asked_for_when_used(monkeypatch, tmp_path, module, extra, use):
    from kgraft.graph import Graph, TablesSource, build_graph

    build_graph(TablesSource([("a", "r", "b")]), tmp_path / "g")
    (tmp_path / "a.nt").write_text("<a:a> <a:r> <a:b> .\n")
    monkeypatch.setitem(sys.modules, module, None)
    names = {"graph": Graph.open(tmp_path / "g"), "nt": tmp_path / "a.nt", "out": tmp_path / "h"}
    with pytest.raises(MissingExtra, match=rf"pip install 'kgraft\[{extra}\]'"):
        builtins.exec(use, names)
    assert not (tmp_path / "h").exists()
