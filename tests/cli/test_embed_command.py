"""`kgraft embed`: train, measure, predict, compare, export and draw, from the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.graph import Graph, TablesSource, build_graph

CITIES = 12


def ring():
    """Return cities on a ring road, each with a twin: what is held out follows from the rest."""
    triples = []
    for n in range(CITIES):
        after = (n + 1) % CITIES
        triples += [(f"c{n}", "next", f"c{after}"), (f"c{after}", "previous", f"c{n}")]
        triples += [(f"c{n}", "twin", f"t{n}"), (f"t{n}", "twin", f"c{n}")]
    split = {8: "valid", 21: "valid", 30: "test", 45: "test"}
    return [(*triple, split.get(place, "train")) for place, triple in enumerate(triples)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embed")
    build_graph(TablesSource(ring()), folder / "ring")
    result = invoke(
        "train", folder / "ring", "--out", folder / "vectors", "--dimension", 32, "--epochs", 40
    )
    assert result.exit_code == 0, result.output
    return folder


def invoke(*arguments):
    return CliRunner().invoke(app, ["embed", *map(str, arguments)])


@pytest.fixture
def run(folder):
    def run(command, *arguments):
        return invoke(command, folder / "ring", folder / "vectors", *arguments)

    return run


def test_training_says_what_it_does(folder, tmp_path):
    options = ("--out", tmp_path / "v", "--model", "transe", "--dimension", 8, "--epochs", 2)
    result = invoke("train", folder / "ring", *options)
    assert result.exit_code == 0
    assert "transe, seed 0; 8 dimensions" in result.stderr
    assert "epoch 2  loss" in result.stderr
    assert "24 entities × 8, transe" in result.stdout
    assert "filtered ranking of heads and tails" in result.stdout


def test_training_as_json(folder, tmp_path):
    options = ("--out", tmp_path / "v", "--dimension", 8, "--epochs", 1, "--seed", 7, "--json")
    stored = json.loads(invoke("train", folder / "ring", *options).stdout)
    assert (stored["dimension"], stored["facts"]["settings"]["seed"]) == (8, 7)


def test_vectors_that_are_there_are_kept(folder):
    result = invoke("train", folder / "ring", "--out", folder / "vectors")
    assert result.exit_code == 2
    assert "exists already" in result.stderr


def test_ranking_is_shown_with_its_protocol(run):
    result = run("eval", "--relations", 2)
    assert result.exit_code == 0
    for words in ("all of test", "tails", "1-1", "twin", "ties at their mean rank"):
        assert words in result.stdout


def test_ranking_as_json(run):
    figures = json.loads(run("eval", "--json", "--split", "valid").stdout)
    assert figures["all"]["count"] == 4
    assert figures["protocol"].startswith("filtered ranking")
    assert figures["relations"].keys() <= {"next", "previous", "twin"}
    assert 0 < figures["all"]["mrr"] <= 1


def test_known_facts_are_marked(run):
    answers = json.loads(run("predict", "--head", "c3", "--relation", "next", "--json").stdout)
    assert {a["id"]: a["known"] for a in answers}["c4"] is True
    assert answers == sorted(answers, key=lambda answer: -answer["score"])
    new = json.loads(
        run("predict", "--head", "c3", "--relation", "next", "--json", "--new", "-n", 3).stdout
    )
    assert len(new) == 3
    assert not any(answer["known"] for answer in new)


def test_heads_are_predicted(run):
    result = run("predict", "--relation", "twin", "--tail", "t5")
    assert result.exit_code == 0
    assert "? — twin — t5" in result.stdout
    assert "c5" in result.stdout


def test_similar_entities(run):
    assert run("similar", "c0").exit_code == 0
    near = json.loads(run("similar", "c0", "--json", "-n", 4).stdout)
    assert len(near) == 4
    assert "c0" not in [entity["id"] for entity in near]


@pytest.mark.slow
def test_export_and_plot(run, folder, tmp_path):
    result = run("export", "--out", tmp_path / "v.npy", "--relations")
    assert result.exit_code == 0, result.stderr
    assert len(np.load(tmp_path / "v.npy")) >= len(Graph.open(folder / "ring").entities)
    drawn = run("plot", "--out", tmp_path / "map.svg")
    assert drawn.exit_code == 0, drawn.stderr
    assert "<svg" in (tmp_path / "map.svg").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("predict", "--relation", "next"), "either --head or --tail"),
        (("predict", "--head", "c1", "--tail", "c2", "--relation", "next"), "either --head"),
        (("predict", "--head", "c1"), "no relation is given"),
        (("predict", "--head", "c1", "--relation", "nexxt"), "nexxt"),
        (("predict", "--head", "nobody", "--relation", "next"), "nobody"),
        (("eval", "--split", "text"), "no split is named 'text'"),
        (("export", "--out", "v.xyz"), "v.xyz"),
        (("plot", "--out", "v.xyz"), "v.xyz"),
    ],
)
def test_bad_input_gets_one_line(run, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("kgraft: ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_vectors_of_another_graph_are_refused(folder):
    result = invoke("predict", "world", folder / "vectors", "--head", "Peru", "-r", "borders")
    assert result.exit_code == 2
    assert "not on world" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "transx"), "'transx'"),
        (("--loss", "hinge"), "'hinge'"),
        (("--dimension", "7"), "dimension is 7"),
    ],
)
def test_bad_settings_get_one_line(folder, tmp_path, options, words):
    result = invoke("train", folder / "ring", "--out", tmp_path / "v", *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not (tmp_path / "v").exists()
