"""`kgraft graph add, remove, merge, diff, split, query, stats`: output, refusals, exit codes."""

import json
from xml.etree import ElementTree as ET

import pytest
from tests.cli.refused import assert_refused
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.graph import Graph, TablesSource, build_graph

PEOPLE = [
    {"id": "ada", "label": "Ada [/x]", "description": "mathematician of London"},
    {"id": "acme", "label": "Acme", "aliases": ["Acme Inc."]},
    {"id": "acme2", "label": "Acme Inc."},
    {"id": "bob", "label": "Bob"},
    {"id": "bob2", "label": "Bob"},
]
FACTS = [("ada", "works_for", "acme"), ("bob", "works_for", "acme")]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `kgraft graph …` in an empty folder with a graph `company`."""
    monkeypatch.chdir(tmp_path)
    relations = [{"id": "works_for", "label": "works for"}]
    build_graph(TablesSource(FACTS, PEOPLE, relations), tmp_path / "company")
    return lambda *words: CliRunner().invoke(app, ["graph", *map(str, words)])


def test_add_a_fact(run):
    result = run("add", "company", "bob2", "works for", "Initech [/y]", "-o", "new")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "new: 6 entities (+1), 1 relations (+0), 3 triples (+1)",
        "  Bob — works for → Initech [/y]",
        "  new: Initech [/y]",
    ]
    assert Graph.open("new").manifest.parent == Graph.open("company").manifest.version
    again = run("add", "new", "bob2", "works_for", "Initech [/y]", "-o", "newer", "--json")
    shown = json.loads(again.stdout)
    assert (shown["version"], shown["new"]) == (Graph.open("new").manifest.version, [])


def test_add_a_file(run, tmp_path):
    lines = [
        {"id": "eve", "label": "Eve"},
        {"head": "eve", "relation": "works_for", "tail": "acme"},
    ]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = run("add", "company", "--from", "more.jsonl", "-o", "company", "--overwrite")
    assert result.stdout == "company: 6 entities (+1), 1 relations (+0), 3 triples (+1)\n"


@pytest.mark.slow
def test_add_is_refused(run):
    assert_refused(run("add", "company", "-o", "new"), "--from")
    assert_refused(run("add", "company", "a", "b", "c", "--from", "x", "-o", "new"), "--from")
    assert_refused(run("add", "company", "a", "b", "-o", "new"), "2")
    assert_refused(run("add", "company", "Bob", "works_for", "acme", "-o", "new"), "bob, bob2")
    assert_refused(run("add", "company", "ada", "works_for", "acme2", "-o", "company"), "exists")
    known = run("add", "company", "Acmee", "works_for", "acme", "-o", "new", "--known-only")
    assert_refused(known, "Acmee", "Acme (acme)")
    assert_refused(run("add", "company", "--from", "nowhere.tsv", "-o", "new"), "nowhere.tsv")


def test_remove(run, tmp_path):
    result = run("remove", "company", "Ada [/x]", "works for", "Acme", "-e", "bob2", "-o", "new")
    assert result.stdout == "new: 4 entities (-1), 1 relations (+0), 1 triples (-1)\n"
    (tmp_path / "gone.tsv").write_text("head\trelation\ttail\nbob\tworks_for\tacme\n")
    result = run("remove", "company", "--from", "gone.tsv", "-r", "works_for", "-o", "none")
    assert result.stdout == "none: 5 entities (+0), 0 relations (-1), 0 triples (-2)\n"


@pytest.mark.slow
def test_remove_is_refused(run):
    assert_refused(run("remove", "company", "-o", "new"), "nothing to remove")
    assert_refused(run("remove", "company", "-e", "Bobb", "-o", "new"), "Bobb", "Bob (")
    assert_refused(run("remove", "company", "acme", "works_for", "ada", "-o", "new"), "no triple")


@pytest.mark.slow
def test_merge(run):
    run("add", "company", "bob2", "works for", "acme2", "-o", "new")
    result = run("merge", "company", "new", "--out", "both")
    assert result.stdout.splitlines() == [
        "both: 5 entities (+0), 1 relations (+0), 3 triples (+1)",
        "  joined by id: 5 entities",
    ]
    build_graph(TablesSource(entities=[{"id": "1", "label": "Acme"}]), Graph.locate("other"))
    result = run("merge", "company", "other", "--match", "labels", "--out", "all", "--json")
    shown = json.loads(result.stdout)
    assert (shown["entities"], shown["same_label"], shown["same_id"]) == (5, 1, 0)
    build_graph(TablesSource(entities=[{"id": "2", "label": "Bob"}]), Graph.locate("bobs"))
    lines = run("merge", "company", "bobs", "--match", "labels", "--out", "three").stdout
    assert "  left apart: 1 labels that several share\n" in lines
    assert_refused(run("merge", "company", "--out", "one"), "two")
    assert_refused(run("merge", "company", "other", "--out", "all"), "exists")


@pytest.mark.slow
def test_diff(run):
    run("add", "company", "bob2", "works for", "Initech [/y]", "-o", "new")
    assert run("diff", "company", "company").stdout == "no difference\n"
    lines = run("diff", "company", "new").stdout.splitlines()
    assert lines[-2:] == ["+ Initech [/y]  Initech [/y]", "+ bob2  works_for  Initech [/y]"]
    shown = json.loads(run("diff", "new", "company", "--json", "-n", "0").stdout)
    assert shown["counts"]["triples"] == {"added": 0, "removed": 1, "changed": 0}
    assert shown["triples"]["removed"] == []


def test_diff_shows_what_changed(run, tmp_path):
    line = {"id": "ada", "label": "Ada", "aliases": ["Countess"]}
    (tmp_path / "more.jsonl").write_text(json.dumps(line) + "\n")
    run("add", "company", "--from", "more.jsonl", "-o", "new")
    last = run("diff", "company", "new").stdout.splitlines()[-1]
    assert last == "~ ada  Ada; label: Ada [/x] → Ada; aliases:  → Countess"


@pytest.mark.slow
def test_split(run):
    result = run("split", "world", "-o", "parts", "--valid", "0.2", "--test", "0", "--seed", "3")
    assert result.exit_code == 0
    assert "valid 2,011, test 0 (seed 3)" in result.stdout
    assert "kept together: borders is symmetric in 100%" in result.stdout
    shown = json.loads(run("split", "company", "-o", "tiny", "--json").stdout)
    assert shown["splits"] == {"train": 2, "valid": 0, "test": 0}
    assert_refused(run("split", "company", "-o", "tiny"), "exists")
    assert_refused(run("split", "company", "-o", "none", "--test", "1"), "test 1")


def test_query(run):
    result = run("query", "?who 'works for' Acme", "company")
    assert result.exit_code == 0
    assert "Ada [/x] (ada)" in result.stdout
    shown = json.loads(run("query", "?who works_for ?x", "company", "--json", "-n", "1").stdout)
    assert (shown["variables"], shown["count"], len(shown["rows"])) == (["who", "x"], 2, 1)
    assert shown["rows"][0]["x"] == {"id": "acme", "label": "Acme"}
    nothing = run("query", "acme works_for ?x", "company")
    assert (nothing.exit_code, nothing.stdout) == (1, "0 rows in all\n")
    assert (
        "'Bob' is taken for Bob (bob), one of several"
        in run("query", "Bob ?how ?x", "company").stdout
    )


def test_query_is_refused(run):
    assert_refused(run("query"), "no patterns")
    assert_refused(run("query", "?x ?y", "company"), "?x ?y")
    assert_refused(run("query", "?x works ?y", "company"), "works")
    assert_refused(run("query", "?x r ?y", "company", "--sparql", "ASK {}"), "--sparql")
    assert_refused(run("query", "--sparql", "nowhere.rq", "company"), "nowhere.rq")


def test_query_by_sparql(run, tmp_path):
    (tmp_path / "who.rq").write_text("SELECT ?x { ?x relation:works_for ?y } ORDER BY ?x")
    result = run("query", "--sparql", "who.rq", "company", "--json")
    assert json.loads(result.stdout) == {"variables": ["x"], "rows": [{"x": "ada"}, {"x": "bob"}]}
    assert run("query", "company", "--sparql", "ASK { ?x relation:works_for ?y }").stdout == "yes\n"
    no = run("query", "--sparql", "ASK { ?x relation:owns ?y }", "company")
    assert (no.exit_code, no.stdout) == (1, "no\n")
    first = run("query", "--sparql", "who.rq", "company", "-n", "1").stdout
    assert "the first 1 rows" in first


def test_stats(run, tmp_path):
    result = run("stats", "company", "--svg", "page.svg")
    assert result.exit_code == 0
    assert "works for" in result.stdout
    assert "kgraft graph add company --from entities.jsonl --out NEW" in result.stdout
    assert "Acme (acme)" in "".join(ET.parse(tmp_path / "page.svg").getroot().itertext())
    shown = json.loads(run("stats", "company", "--json").stdout)
    assert shown["relations"][0]["cardinality"] == "n-1"
    assert shown["components"] == 3


def test_search_says_how(run):
    similar = json.loads(run("search", "Acmee", "-g", "company", "--json").stdout)
    assert {(hit["entity"]["id"], hit["how"]) for hit in similar} == {("acme", "similar")}
    words = json.loads(run("search", "london", "-g", "company", "--json").stdout)
    assert [(hit["entity"]["id"], hit["how"]) for hit in words] == [("ada", "description")]
