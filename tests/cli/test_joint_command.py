"""`kgraft joint`: pre-train, then measure what the graph is worth."""

import json

import pytest
from tests.graft.conftest import graph, host_folder  # noqa: F401
from tests.joint.conftest import marked
from tests.tasks.asked import write_questions
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.tasks import joint_tasks
from kgraft.tasks.few_shot import EpisodeSettings


@pytest.fixture(scope="module")
def folder(graph, host_folder, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("joint")
    with (folder / "texts.jsonl").open("w") as file:
        for text, mentions in list(marked()) * 4:
            file.write(json.dumps({"text": text, "mentions": mentions}) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(folder / "cache"))
        done = run(
            "pretrain", graph.folder, "--texts", folder / "texts.jsonl", "--encoder", host_folder,
            "--cut", 1, "--categories", 0, "--out", folder / "model",
        )  # fmt: skip
        assert "18 texts with 28 mentions, 2 to choose by; seed 0" in done.stderr
        assert "epoch 1  loss" in done.stderr
        assert "kgraft joint eval" in done.stdout
        yield folder


def run(*words, code=0):
    done = CliRunner().invoke(app, ["joint", *map(str, words)])
    assert done.exit_code == code, done.output
    return done


@pytest.mark.slow
def test_classes(folder, graph):  # noqa: F811
    done = run("eval", "classes", "--model", folder / "model", "--graph", graph.folder, "--json")
    assert set(json.loads(done.stdout)) == {"task", "on", "off", "low", "high", "difference"}


@pytest.mark.slow
def test_texts_without_marks_are_linked(folder, graph, host_folder):  # noqa: F811
    plain = folder / "plain.jsonl"
    plain.write_text("\n".join(json.dumps({"text": text}) for text, _ in marked()))
    done = run("pretrain", graph.folder, "--texts", plain, "--encoder", host_folder, "--cut", 1,
               "--out", folder / "linked", "--json")  # fmt: skip
    told = json.loads(done.stdout)
    assert {"words", "mentions", "categories", "relations", "perplexity"} <= set(told)
    assert "5 mentions" not in done.stderr
    learnt = run("eval", "classes", "-m", folder / "linked", "-g", graph.folder, code=2)
    assert "the categories of this graph were learnt in pre-training" in learnt.stderr
    assert "--categories 0" in learnt.stderr
    kept = list(folder.glob("linked.*.linked.jsonl"))
    assert len(kept) == 1
    assert any(json.loads(line)["links"] for line in kept[0].read_text().splitlines())


@pytest.mark.slow
def test_relations(folder, graph, host_folder, monkeypatch):  # noqa: F811
    quick = EpisodeSettings(steps=2, validate_every=2, ways=2, texts=2, ways_asked=2, asked=20)
    monkeypatch.setattr(joint_tasks, "EpisodeSettings", lambda: quick)
    monkeypatch.setattr(joint_tasks, "ASKED", 20)
    for name, relations in (("train", "abcd"), ("test", "ef")):
        lines = [
            {"text": f"France {r} {n} Paris", "head": {"start": 0, "end": 6},
             "tail": {"start": 11, "end": 16}, "relation": r}
            for n in range(4) for r in relations
        ]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = run("eval", "relations", "-m", folder / "model", "-g", graph.folder, "--data", folder,
               "--json")  # fmt: skip
    assert set(json.loads(done.stdout)) == {"task", "on", "off", "low", "high", "difference"}


def test_a_task_that_is_none(folder, graph):  # noqa: F811
    done = run("eval", "sorcery", "--model", folder / "model", "--graph", graph.folder, code=2)
    assert "no task is named 'sorcery'" in done.stderr
    done = run("eval", "questions", "--model", folder / "model", "--graph", graph.folder, code=2)
    assert "questions needs data" in done.stderr


@pytest.mark.slow
def test_questions_are_learnt_and_answered(folder, graph):  # noqa: F811
    for name in ("train", "dev"):
        write_questions(folder / f"{name}.jsonl")
    out = folder / "answerer"
    done = run("train", "-m", folder / "model", "-g", graph.folder, "--data", folder, "--out", out,
               "--hops", 2, "--epochs", 1)  # fmt: skip
    assert "9 questions, 9 to choose by; seed 0" in done.stderr
    assert "kgraft joint answer" in done.stdout
    asked = ("answer", "what is Berlin the capital of", "-m", out, "-g", graph.folder, "-n", 2)
    (told,) = json.loads(run(*asked, "--json").stdout)
    assert told["about"] == {"id": "berlin", "label": "Berlin"}
    assert 1 <= len(told["answers"]) <= 2
    for answer in told["answers"]:
        assert "Berlin" in answer["path"][0]
        assert 0 < answer["share"] <= 1
    shown = run(*asked).stdout
    assert "about Berlin berlin" in shown
    assert " — ".join(told["answers"][0]["path"][0]) in shown
    (told,) = json.loads(run(*asked, "--json", "--about", "germany").stdout)
    assert told["about"]["id"] == "germany"
    assert run("eval", "classes", "-m", out, "-g", graph.folder).stdout  # it is a joint model still


def test_what_cannot_be_answered(folder, graph):  # noqa: F811
    done = run("answer", "who", "-m", folder / "model", "-g", graph.folder, code=2)
    assert "no answerer at" in done.stderr
    done = run("answer", " ", "-m", folder / "model", "-g", graph.folder, code=2)
    assert "a question is empty" in done.stderr
    done = run("train", "-m", folder / "nothing", "-g", graph.folder, "--data", folder, code=2)
    assert "no joint model at" in done.stderr
