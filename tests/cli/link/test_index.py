"""`kgraft link index`: candidates by meaning from then on."""

import json

import pytest

from kgraft.storage import cache_folder


@pytest.fixture
def index(invoke, folder):
    def index(*arguments):
        return invoke("index", folder / "graph", "--model", folder / "linker", *arguments)

    return index


@pytest.mark.parametrize("kind", ["encoded", "static"])
def test_an_index_is_built_and_used_from_then_on(index, run, kind):
    before = json.loads(run("no name here", "--threshold", 0, "--json").stdout)["links"]
    assert before == []
    result = index("--quiet", *(["--static"] if kind == "static" else []))
    assert (result.exit_code, result.stdout) == (0, "30 entities indexed\n"), result.output
    [file] = (cache_folder() / "indexes").iterdir()
    assert f"-{kind}-" in file.name
    links = json.loads(run("no name here", "--threshold", 0, "--json").stdout)["links"]
    matches = {candidate["match"] for link in links for candidate in link["candidates"]}
    assert matches <= {"neighbour"}


def test_a_graph_that_is_not_there_is_named(invoke, fails, tmp_path):
    fails(invoke("index", tmp_path / "nowhere"), "no graph at")


def test_help_shows_both_ways(invoke):
    shown = invoke("index", "--help").output
    assert "--static" in shown
    assert "--model" in shown
