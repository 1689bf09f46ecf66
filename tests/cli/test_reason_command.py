"""`kgraft reason`: predict, explain, eval, combine and train, from the command line."""

import json

import pytest
from tests.cli.refused import assert_refused
from tests.embed.tiny import build, quick
from tests.reason.paths.tiny import tiny_reasoner
from tests.reason.tiny import atlas_entities, atlas_triples
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.embed import train_embedding
from kgraft.reason import Reasoner

TRAIN = {triple[:3] for triple in atlas_triples() if triple[3] == "train"}
NEW = ("--head", "country 5", "--relation", "borders", "--new")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a graph, a tiny reasoner, vectors, and all of them combined."""
    folder = tmp_path_factory.mktemp("reason")
    atlas = build(folder / "atlas", atlas_triples(), atlas_entities())
    calibration = {"weights": [1.0, -0.5], "bias": 0.0}
    tiny_reasoner().save_pretrained(folder / "reasoner", facts={"calibration": calibration})
    list(train_embedding(atlas, quick(epochs=2), folder / "vectors"))
    return folder


def invoke(*arguments):
    return CliRunner().invoke(app, ["reason", *map(str, arguments)])


@pytest.fixture
def run(folder):
    def run(command, *arguments):
        return invoke(command, folder / "atlas", *arguments, "--reasoner", folder / "reasoner")

    return run


@pytest.fixture(scope="module")
def combined(folder):
    """What combining says, and the folder that it writes."""
    result = invoke(
        "combine",
        *(folder / "atlas", "--out", folder / "completer", "--vectors", folder / "vectors"),
        *("--reasoner", folder / "reasoner", "-q"),
    )
    assert result.exit_code == 0, result.output
    return result.stdout, folder / "completer"


def test_new_facts_are_predicted_with_reasons(run):
    result = run("predict", *NEW)
    assert result.exit_code == 0, result.output
    assert "country 5 — borders — ?" in result.stdout
    assert "paths" in result.stdout
    assert "known" not in result.stdout
    assert result.stdout.count("new") == 5


def test_predictions_as_json(run):
    answers = json.loads(run("predict", *NEW, "-n", 3, "--reasons", 2, "--json").stdout)
    assert len(answers) == 3
    assert answers == sorted(answers, key=lambda answer: -answer["score"])
    for answer in answers:
        assert not answer["known"]
        assert answer["id"] != "country5"
        assert 0 <= answer["probability"] <= 1
        assert len(answer["reasons"]) <= 2
        for reason in answer["reasons"]:
            assert {tuple(fact) for fact in reason["facts"]} <= TRAIN


def test_heads_are_predicted(run):
    result = run("predict", "--relation", "lies_in", "--tail", "continent1", "--reasons", 0)
    assert "? — lies_in — continent 1" in result.stdout
    assert "country" in result.stdout


def test_what_is_settled_has_no_new_answer(run):
    options = ("--head", "city3", "-r", "capital_of")
    result = run("predict", *options, "--new")
    assert result.exit_code == 0
    assert "nothing" in result.stdout
    assert json.loads(run("predict", *options, "--new", "--json").stdout) == []
    (answer,) = json.loads(run("predict", *options, "--json").stdout)
    assert (answer["id"], answer["known"]) == ("country3", True)


def test_a_fact_is_explained(run):
    result = run("explain", "city1", "capital_of", "country2", "-n", 2)
    assert result.exit_code == 0, result.output
    for words in ("not in the graph", "rank", "for", "against", "country 2 ← capital_of — city 2"):
        assert words in result.stdout
    assert "against" not in run("explain", "country7", "borders", "country8").stdout


def test_an_explanation_as_json(run):
    stored = json.loads(run("explain", "country7", "borders", "country8", "--json").stdout)
    assert (stored["head"], stored["tail"], stored["known"]) == ("country7", "country8", True)
    facts = {tuple(fact) for reason in stored["reasons"] for fact in reason["facts"]}
    assert facts
    assert facts <= TRAIN - {("country7", "borders", "country8")}


def test_ranking(run):
    result = run("eval", "-q")
    assert result.exit_code == 0, result.output
    for words in ("MRR", "Hits@10", "answers of test", "by paths", "ties at their mean rank"):
        assert words in result.stdout
    stored = json.loads(run("eval", "--json", "-q", "--split", "valid").stdout)
    assert stored["split"] == "valid"
    assert 0 < stored["all"]["mrr"] <= 1
    assert stored["all"]["count"] == 2 * sum(t[3] == "valid" for t in atlas_triples())


def test_sources_are_combined(combined):
    printed, out = combined
    assert "--completer" in printed
    assert "paths" in printed
    assert "vectors" in printed
    stored = json.loads((out / "weights.json").read_text())
    assert stored["weights"]["sources"] == ["paths", "vectors"]


def test_a_combination_is_used(folder, combined):
    graph, (_, completer) = folder / "atlas", combined
    options = ("--completer", completer, "--json")
    answers = json.loads(invoke("predict", graph, *NEW, *options).stdout)
    assert len(answers) == 5
    result = invoke("eval", graph, "-c", completer, "-q")
    assert "by paths, vectors" in result.stdout
    stored = json.loads(invoke("explain", graph, "city1", "capital_of", "city2", *options).stdout)
    assert {reason["source"] for reason in stored["reasons"]} >= {"vectors", "graph"}


def test_combining_as_json(folder, run, tmp_path):
    result = run("combine", "--out", tmp_path / "c", "--json", "-q")
    stored = json.loads(result.stdout)
    assert stored["sources"] == ["paths"]
    assert len(stored["common"]) == 2
    assert_refused(run("combine", "--out", tmp_path / "c"), "exists already")


@pytest.mark.slow
def test_a_reasoner_is_trained(run, tmp_path):
    options = ("--epochs", 1, "--steps", 2, "--batch", 2, "--seed", 3)
    result = run("train", "--out", tmp_path / "r", *options)
    assert result.exit_code == 0, result.output
    assert "epoch 1  loss" in result.stderr
    assert "--reasoner" in result.stdout
    assert Reasoner.load(tmp_path / "r").config.width == 8
    stored = json.loads(run("train", "--out", tmp_path / "s", *options, "--json", "-q").stdout)
    assert 0 < stored["mrr"] <= 1
    assert_refused(run("train", "--out", tmp_path / "r"), "exists already")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("predict", "--head", "country1"), "no relation is given"),
        (("predict", "-r", "borders"), "--head"),
        (("predict", "-r", "borders", "--head", "country1", "--tail", "country2"), "--tail"),
        (("predict", "-r", "swims", "--head", "country1"), "swims"),
        (("predict", "-r", "borders", "--head", "atlantis"), "atlantis"),
        (("predict", "-r", "borders", "--tail", "atlantis"), "atlantis"),
        (("explain", "atlantis", "borders", "country1"), "atlantis"),
        (("explain", "country1", "swims", "country2"), "swims"),
        (("eval", "--split", "nothing"), "'nothing'"),
        (("eval", "--rules", "nowhere"), "nowhere"),
        (("eval", "--vectors", "nowhere"), "nowhere"),
        (("eval", "--text", "nowhere"), "nowhere"),
        (("eval", "--completer", "nowhere"), "completer"),
        (("combine", "--out", "out", "--rules", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_gets_one_line(run, command, words):
    assert_refused(run(*command), words)


def test_a_completer_comes_without_other_sources(folder, run, combined):
    completer = combined[1]
    assert_refused(run("eval", "--completer", completer, "-q"), "--completer")
    vectors = ("--vectors", folder / "vectors")
    assert_refused(invoke("eval", folder / "atlas", "-c", completer, *vectors), "--completer")


def test_a_completer_of_another_graph_is_refused(combined):
    result = invoke("predict", "world", "--head", "Peru", "-r", "borders", "-c", combined[1])
    assert_refused(result, "not on world")


def test_a_source_that_is_gone_is_named(folder, tmp_path):
    graph = folder / "atlas"
    tiny_reasoner().save_pretrained(tmp_path / "r")
    invoke("combine", graph, "--out", tmp_path / "c", "--reasoner", tmp_path / "r", "-q")
    (tmp_path / "r").rename(tmp_path / "moved")
    assert_refused(invoke("eval", graph, "-c", tmp_path / "c", "-q"), str(tmp_path / "r"))


def test_a_graph_without_held_out_facts_is_refused(folder, tmp_path):
    build(tmp_path / "g", [("a", "r", "b"), ("b", "r", "c")])
    options = ("--reasoner", folder / "reasoner")
    assert_refused(invoke("eval", tmp_path / "g", "-q", *options), "test")
    refused = invoke("combine", tmp_path / "g", "-q", *options, "--out", tmp_path / "c")
    assert_refused(refused, "valid")
    assert not (tmp_path / "c").exists()
    refused = invoke("train", tmp_path / "g", "-q", *options, "--out", tmp_path / "r")
    assert_refused(refused, "2 training triples")
    predicted = invoke("predict", tmp_path / "g", "--head", "a", "-r", "r", *options)
    assert predicted.exit_code == 0, predicted.output


def test_a_graph_without_facts_predicts_by_nothing(folder, tmp_path):
    relations = [{"id": "r"}]
    build(tmp_path / "g", [], [{"id": "a"}, {"id": "b"}], relations)
    options = ("--reasoner", folder / "reasoner")
    result = invoke("predict", tmp_path / "g", "--head", "a", "-r", "r", *options)
    assert result.exit_code == 0, result.output
