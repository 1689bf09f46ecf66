"""`kgraft graft`: train a graft, look inside, and measure what it adds."""

import json
import re

import pytest
from tests.graft.annotated import examples
from tests.graft.conftest import graph, host_folder  # noqa: F401
from tests.graft.senses import tiny_wordnet
from tests.graft.tiny import build
from typer.testing import CliRunner

from kgraft.cli import app

PAIR = {"text1": "Paris", "span1": [0, 5], "text2": "in Paris", "span2": [3, 8], "same": True}


@pytest.fixture(scope="module")
def folder(graph, host_folder, tmp_path_factory):  # noqa: F811
    """A trained graft, its texts and a task."""
    folder = tmp_path_factory.mktemp("command")
    with (folder / "texts.jsonl").open("w") as file:
        for text, mentions in list(examples()) * 4:
            file.write(json.dumps({"text": text, "mentions": mentions}) + "\n")
    wic = folder / "wic"
    wic.mkdir()
    for name in ("train", "dev", "test"):
        lines = [PAIR | {"same": number % 2 == 0} for number in range(6)]
        (wic / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(folder / "cache"))
        done = run("train", graph.folder, "--texts", folder / "texts.jsonl",
                   "--encoder", host_folder, "--linker-epochs", 1, "--epochs", 1,
                   "--out", folder / "graft", "--json")  # fmt: skip
        told = json.loads(done.stdout)
        assert told["out"] == str(folder / "graft")
        assert told["epoch"] == 2
        yield folder


def run(*words):
    done = CliRunner().invoke(app, ["graft", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.slow
def test_training_tells_what_it_does(folder, graph, host_folder):  # noqa: F811
    done = run("train", graph.folder, "--texts", folder / "texts.jsonl", "--encoder", host_folder,
               "--linker-epochs", 0, "--epochs", 1, "--layer", 1, "--rank", 2,
               "--out", folder / "other")  # fmt: skip
    assert "tiny after layer 1; 33 texts, 3 to validate on; seed 0" in done.stderr
    assert "epoch 1  loss" in done.stderr
    assert "kgraft graft explain" in done.stdout


@pytest.mark.slow
def test_documents_are_read_in_pairs(folder, graph, host_folder):  # noqa: F811
    path = folder / "documents.jsonl"
    with path.open("w") as file:
        for number, (text, mentions) in enumerate(list(examples()) * 4):
            told = {"id": f"d{number // 6}.{number}", "text": text, "mentions": mentions}
            file.write(json.dumps(told) + "\n")
    done = run("train", graph.folder, "--texts", path, "--encoder", host_folder, "--next-sentence",
               "--linker-epochs", 0, "--epochs", 4, "--out", folder / "paired")  # fmt: skip
    assert "15 pairs of texts, 3 to validate on" in done.stderr
    assert "a head for masked words is trained first" in done.stderr
    assert "next " in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "options"),
    [(True, []), (True, ["--open-vocabulary", "--hypernym-relation", "hypernym"]), (False, [])],
)
def test_word_senses_by_the_same_command(tmp_path, host_folder, given, options, monkeypatch):  # noqa: F811
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    graph = tiny_wordnet(tmp_path)  # noqa: F811
    dog = {"start": 2, "end": 5, "lemma": "dog", "pos": "NOUN", "entities": ["dog%1:05:00::"]}
    path = tmp_path / "senses.jsonl"
    path.write_text((json.dumps({"text": "a dog", "mentions": [dog]}) + "\n") * 20)
    texts = ["--texts", path] if given else []
    done = run("train", graph.folder, *texts, *options, "--encoder", host_folder,
               "--linker-epochs", 1, "--epochs", 1, "--out", tmp_path / "graft")  # fmt: skip
    assert "annotated words" in done.stderr
    if given:
        assert "18 texts with 18 annotated words, 2 texts to validate on" in done.stderr


@pytest.mark.slow
def test_facts_are_recalled(folder, graph, host_folder):  # noqa: F811
    done = run("train", graph.folder, "--recall-facts", "--encoder", host_folder,
               "--linker-epochs", 1, "--epochs", 1, "--out", folder / "recalls")  # fmt: skip
    assert "21 facts with a hidden word, 2 to validate on" in done.stderr
    done = run("explain", folder / "recalls", "Paris is the capital of [MASK] .")
    assert "[MASK]" in done.stdout
    assert "France" in done.stdout
    done = run("eval", "facts", "--model", folder / "recalls", "--data", graph.folder, "--json")
    assert set(json.loads(done.stdout)) >= {"on", "off", "difference"}


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", ["paths", "rules"])
def test_paths_and_rules_are_read(folder, graph, host_folder, knowledge):  # noqa: F811
    predicted = folder / "predicted.jsonl"
    fact = {"head": "tx-paris", "relation": "borders", "tail": "ny", "confidence": 0.7}
    predicted.write_text(json.dumps(fact | {"rule": "neighbours of neighbours"}))
    facts = ["--facts", predicted] if knowledge == "rules" else []
    out = folder / knowledge
    done = run("train", graph.folder, "--texts", folder / "texts.jsonl", "--knowledge", knowledge,
               *facts, "--encoder", host_folder, "--linker-epochs", 1, "--epochs", 1,
               "--out", out)  # fmt: skip
    assert "epoch 2" in done.stderr
    config = json.loads((out / "kgraft.json").read_text())["config"]["grafts"]["2"]["knowledge"]
    assert config["config"]["kind"] == knowledge
    assert ("predicted" in config) is (knowledge == "rules")
    assert "Paris" in run("explain", out, "Paris lies in Texas.").stdout
    told = json.loads(
        run("eval", "perplexity", "--data", folder / "texts.jsonl", "--model", out, "--json").stdout
    )
    assert told["low"] <= told["difference"] <= told["high"]


@pytest.mark.slow
def test_no_fact_to_recall(folder, tmp_path, host_folder):  # noqa: F811
    ends = [{"id": "a"}, {"id": "b", "label": "Xanaduland"}]
    made = build(tmp_path / "long", [("a", "r", "b")], ends, None)
    words = ["graft", "train", made.folder, "--recall-facts", "--encoder", host_folder]
    done = CliRunner().invoke(app, [*map(str, words), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "no fact of this graph has an object of one word to recall" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_look_inside(folder):
    page = folder / "look.html"
    done = run("explain", folder / "graft", "Paris lies in Texas.", "--html", page)
    assert "Paris" in done.stdout
    assert "small city in Texas" in done.stdout
    assert "changed most: " in done.stdout
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_a_look_inside_for_programs(folder):
    told = json.loads(run("explain", folder / "graft", "Paris lies in Texas.", "--json").stdout)
    assert [mention["text"] for mention in told["mentions"]] == ["Paris", "Texas"]
    assert told["words"][0]["text"] == "Paris"


@pytest.mark.slow
def test_what_knowledge_adds(folder):
    done = run("eval", "wic", "--data", folder / "wic", "--model", folder / "graft")
    assert "on 0." in done.stdout
    assert "difference" in done.stdout
    told = json.loads(
        run("eval", "perplexity", "--data", folder / "texts.jsonl", "--model", folder / "graft",
            "--json").stdout
    )  # fmt: skip
    assert told["low"] <= told["difference"] <= told["high"]


@pytest.mark.slow
def test_facts_of_a_graph(folder, graph):  # noqa: F811
    told = json.loads(
        run("eval", "facts", "--data", graph.folder, "--model", folder / "graft", "--json").stdout
    )
    assert 0 < told["off"] <= 1
    assert told["low"] <= told["difference"] <= told["high"]


@pytest.mark.slow
def test_a_plain_encoder_by_the_same_command(folder, host_folder):  # noqa: F811
    done = run("eval", "wic", "--data", folder / "wic", "--encoder", host_folder)
    assert re.fullmatch(r"wic  [01]\.\d{4}  \(no knowledge\)\n", done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["wic"], "give either --model or --encoder"),
        (["wic", "--model", "m", "--encoder", "e"], "give either --model or --encoder"),
        (["facts", "--encoder", "default"], "facts needs a graft"),
    ],
)
def test_what_to_measure_must_be_said(options, said):
    done = CliRunner().invoke(app, ["graft", "eval", "--data", "x", *options])
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.slow
def test_one_clear_line(folder):
    done = CliRunner().invoke(
        app, ["graft", "eval", "magic", "--data", "x", "--model", str(folder / "graft")]
    )
    assert done.exit_code == 2
    assert done.stderr.startswith("kgraft: no task is named 'magic'; ")
    done = CliRunner().invoke(app, ["graft", "explain", str(folder), "Paris"])
    assert done.exit_code == 2
    assert "no graft at" in done.stderr
