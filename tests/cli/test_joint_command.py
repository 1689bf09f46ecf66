"""`kgraft joint`: pre-train, then measure what the graph adds."""

import json

import pytest
from tests.cli.refused import assert_refused
from tests.graft.conftest import graph, host_folder  # noqa: F401
from tests.joint.conftest import marked
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.tasks import JOINT_TASKS, FewShotSettings


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
        assert "18 texts with 28 mentions, 2 held out; seed 0" in done.stderr
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
def test_texts_without_annotations_are_linked(folder, graph, host_folder):  # noqa: F811
    plain = folder / "plain.jsonl"
    plain.write_text("\n".join(json.dumps({"text": text}) for text, _ in marked()))
    done = run("pretrain", graph.folder, "--texts", plain, "--encoder", host_folder, "--cut", 1,
               "--out", folder / "linked", "--json")  # fmt: skip
    printed = json.loads(done.stdout)
    assert {"words", "mentions", "categories", "relations", "perplexity"} <= set(printed)
    assert "5 mentions" not in done.stderr
    learned = run("eval", "classes", "-m", folder / "linked", "-g", graph.folder, code=2)
    assert "the categories of this graph were learned in pre-training" in learned.stderr
    assert "--categories 0" in learned.stderr
    kept = list(folder.glob("linked.*.linked.jsonl"))
    assert len(kept) == 1
    assert any(json.loads(line)["links"] for line in kept[0].read_text().splitlines())


@pytest.mark.slow
def test_relations(folder, graph, host_folder, monkeypatch):  # noqa: F811
    quick = FewShotSettings(epochs=1, steps=2, ways=2, texts=2, valid_ways=2, valid_episodes=20)
    monkeypatch.setattr(JOINT_TASKS["relations"], "settings", quick)
    monkeypatch.setattr(JOINT_TASKS["relations"], "test_episodes", 20)
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
    model = ("--model", folder / "model", "--graph", graph.folder)
    assert_refused(run("eval", "sorcery", *model, code=2), "'sorcery'")
    assert_refused(run("eval", "relations", *model, "-q", code=2), "--data")
