"""`kgraft reason recall`."""

import json

import pytest
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.graph import TablesSource, build_graph


@pytest.fixture
def recall(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    triples = [("rome", "capital of", "italy"), *((f"p{n}", "born in", "rome") for n in range(8))]
    entities = [{"id": "rome", "label": "Rome"}, {"id": "italy", "label": "Italy"}]
    build_graph(TablesSource(triples, entities, undeclared="add"), tmp_path / "graph")

    def run(*arguments):
        command = ["reason", "recall", str(tmp_path / "graph"), *arguments, "--static", "-q"]
        return CliRunner().invoke(app, command)

    return run


def test_facts_with_weights(recall):
    result = recall("the capital of Italy")
    assert result.exit_code == 0, result.output
    first = result.stdout.splitlines()[1]
    assert "Rome — capital of → Italy" in first
    assert 0 < float(first.split()[0]) <= 1
    assert "(5 of 8)" in recall("born in Rome").stdout


def test_json(recall):
    facts = json.loads(recall("the capital of Italy", "--json", "--limit", "1").stdout)
    assert [fact["facts"] for fact in facts] == [[["rome", "capital of", "italy"]]]


def test_about_an_entity(recall):
    facts = json.loads(recall("who was born there?", "--about", "Rome", "--json").stdout)
    assert {fact["entity"] for fact in facts} == {"rome"}


def test_everywhere(recall):
    text = "Italy: who was born in Rome"
    near, far = (recall(text, "--json", *more).stdout for more in ((), ("--everywhere",)))
    assert "born in" in near
    assert {fact["entity"] for fact in json.loads(recall("Italy", "--json").stdout)} == {"italy"}
    assert "p3" in json.loads(far)[0]["words"]


def test_an_empty_text_is_refused(recall):
    result = recall("  ")
    assert result.exit_code == 2
    assert "empty" in result.stderr
