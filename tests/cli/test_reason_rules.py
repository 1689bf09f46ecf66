"""`kgraft reason mine`, `rules` and `apply`."""

import json

import numpy as np
import pytest
from tests.reason.rules.naive import make_graph
from typer.testing import CliRunner

from kgraft.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a graph `g`, in which r1 is the inverse of r0, and its rules `rules`."""
    folder = tmp_path_factory.mktemp("reason")
    random = np.random.default_rng(2)
    pairs = np.unique(random.integers(0, 30, (80, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:70].tolist()
    triples = [(h, 0, t) for h, t in pairs] + [(t, 1, h) for h, t in pairs[:60]]
    make_graph(folder / "g", triples, entities=30, relations=2)
    arguments = ["reason", "mine", str(folder / "g"), "-o", str(folder / "rules"), "--rounds", "1"]
    done = CliRunner().invoke(app, [*arguments, "--json", "-q"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)["facts"]
    assert facts["rounds"] == 1
    assert facts["settings"]["seed"] == 0
    return folder


def run(*arguments):
    done = CliRunner().invoke(app, ["reason", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_rules_are_listed_in_words_with_an_example(folder):
    rows = json.loads(run("rules", folder / "rules", "-g", folder / "g", "-n", 2, "--json"))
    assert len(rows) == 2
    assert "Y — relation 1 → X" in rows[0]["words"] or "Y — relation 0 → X" in rows[0]["words"]
    assert rows[0]["support"] == 60
    assert "entity" in rows[0]["example"]
    assert "relation 1" in run("rules", folder / "rules", "-g", folder / "g", "-r", "r1")


def test_rules_go_to_anyburl_and_come_back(folder):
    run("rules", folder / "rules", "-g", folder / "g", "--export", folder / "rules.txt")
    assert "r1(X,Y) <= r0(Y,X)" in (folder / "rules.txt").read_text()
    rows = [
        json.loads(run("rules", folder / name, "-g", folder / "g", "-n", 5, "--json"))
        for name in ("rules", "rules.txt")
    ]
    assert [row["confidence"] for row in rows[0]] == [row["confidence"] for row in rows[1]]
    with (folder / "rules.txt").open("a") as file:
        file.write("no rule\n")
    run("rules", folder / "rules.txt", "-g", folder / "g", "--skip-bad")
    done = CliRunner().invoke(
        app, ["reason", "rules", str(folder / "rules.txt"), "-g", str(folder / "g")]
    )
    assert done.exit_code == 2
    assert "rules.txt:" in done.stderr


def test_conclusions_are_written(folder):
    run("apply", folder / "g", folder / "rules", "-o", folder / "new.jsonl", "-q")
    records = [json.loads(line) for line in (folder / "new.jsonl").read_text().splitlines()]
    assert sum(record["relation"] == "r1" for record in records) == 10


@pytest.mark.slow
def test_a_human_reads_how_rules_were_mined(folder):
    out = folder / "other"
    text = run("mine", folder / "g", "-o", out, "--rounds", 0, "--no-constants", "--longest", 2)
    assert "paths" in text
    assert "seed 0" in text
