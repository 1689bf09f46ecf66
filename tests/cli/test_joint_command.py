"""`kgraft joint`: pre-train, then measure what the graph is worth."""

import json

import pytest
from tests.graft.conftest import graph, host_folder  # noqa: F401
from tests.joint.conftest import marked
from typer.testing import CliRunner

from kgraft.cli import app


@pytest.fixture(scope="module")
def folder(graph, host_folder, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("joint")
    with (folder / "texts.jsonl").open("w") as file:
        for text, mentions in list(marked()) * 4:
            file.write(json.dumps({"text": text, "mentions": mentions}) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(folder / "cache"))
        done = run("pretrain", graph.folder, "--texts", folder / "texts.jsonl", "--encoder",
                   host_folder, "--cut", 1, "--out", folder / "model")  # fmt: skip
        assert "18 texts with 28 mentions, 2 to choose by; seed 0" in done.stderr
        assert "epoch 1  loss" in done.stderr
        assert "kgraft joint eval classes" in done.stdout
        yield folder


def run(*words, code=0):
    done = CliRunner().invoke(app, ["joint", *map(str, words)])
    assert done.exit_code == code, done.output
    return done


def test_classes(folder, graph):  # noqa: F811
    done = run("eval", "classes", "--model", folder / "model", "--graph", graph.folder, "--json")
    assert set(json.loads(done.stdout)) == {"task", "on", "off", "low", "high", "difference"}


def test_texts_without_marks_are_linked(folder, graph, host_folder):  # noqa: F811
    plain = folder / "plain.jsonl"
    plain.write_text("\n".join(json.dumps({"text": text}) for text, _ in marked()))
    done = run("pretrain", graph.folder, "--texts", plain, "--encoder", host_folder, "--cut", 1,
               "--out", folder / "linked", "--json")  # fmt: skip
    told = json.loads(done.stdout)
    assert {"words", "mentions", "categories", "relations", "perplexity"} <= set(told)
    assert "5 mentions" not in done.stderr
    kept = list(folder.glob("linked.*.linked.jsonl"))
    assert len(kept) == 1
    assert any(json.loads(line)["links"] for line in kept[0].read_text().splitlines())


def test_a_task_that_is_none(folder, graph):  # noqa: F811
    done = run("eval", "sorcery", "--model", folder / "model", "--graph", graph.folder, code=2)
    assert "no task is called sorcery" in done.stderr
    done = run("eval", "questions", "--model", folder / "model", "--graph", graph.folder, code=2)
    assert "questions needs data" in done.stderr
