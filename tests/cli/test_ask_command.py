"""`kgraft ask`: train what answers questions, measure it, and ask it."""

import json

import pytest
from tests.ask.tiny_questions import QUESTIONS, write_questions
from tests.cli.refused import assert_refused
from tests.graft.conftest import graph, host_folder  # noqa: F401
from tests.joint.conftest import CONFIG
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.joint import JointModel
from kgraft.text import Encoder

ASKED = "what is Berlin the capital of"


def run(*words, code=0):
    done = CliRunner().invoke(app, ["ask", *map(str, words)])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def folder(graph, host_folder, tmp_path_factory):  # noqa: F811
    """A joint model, files of questions, and an answerer that was trained on them."""
    folder = tmp_path_factory.mktemp("ask")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(folder / "cache"))
        encoder = Encoder.load(host_folder, device="cpu", max_length=64)
        facts = {"encoder": str(host_folder)}
        JointModel(encoder, CONFIG).save_pretrained(folder / "model", facts=facts)
        for name in ("train", "dev", "test"):
            write_questions(folder / f"{name}.jsonl")
        done = run(
            "train", "-m", folder / "model", "-g", graph.folder, "--data", folder,
            "--out", folder / "answerer", "--hops", 2, "--epochs", 1,
        )  # fmt: skip
        assert f"{len(QUESTIONS) - 1} questions" in done.stderr
        assert "kgraft ask QUESTION" in done.stdout
        yield folder


@pytest.mark.slow
def test_answers_as_json(folder, graph):  # noqa: F811
    asked = (ASKED, "-m", folder / "answerer", "-g", graph.folder, "-n", 2)
    (answered,) = json.loads(run(*asked, "--json").stdout)
    assert answered["question"] == ASKED
    assert answered["about"] == {"id": "berlin", "label": "Berlin"}
    assert 1 <= len(answered["answers"]) <= 2
    for answer in answered["answers"]:
        assert "Berlin" in answer["path"][0]
        assert 0 < answer["score"] <= 1
    (answered,) = json.loads(run(*asked, "--json", "--about", "germany").stdout)
    assert answered["about"]["id"] == "germany"


@pytest.mark.slow
def test_answers_for_people(folder, graph):  # noqa: F811
    asked = ("-m", folder / "answerer", "-g", graph.folder)
    (answered,) = json.loads(run(ASKED, *asked, "--json").stdout)
    printed = run("question", ASKED, *asked).stdout
    assert "about Berlin berlin" in printed
    assert " — ".join(answered["answers"][0]["path"][0]) in printed
    assert run(*asked, ASKED).stdout == printed  # options may come first


@pytest.mark.slow
def test_what_the_graph_adds_is_measured(folder, graph):  # noqa: F811
    done = run("eval", "-m", folder / "model", "-g", graph.folder, "--data", folder, "--json")
    figures = json.loads(done.stdout)
    assert set(figures) == {"task", "on", "off", "low", "high", "difference"}
    assert figures["task"] == "questions"


@pytest.mark.slow
def test_the_joint_model_is_in_the_folder(folder):
    assert JointModel.from_pretrained(folder / "answerer" / "joint").config.cut == CONFIG.cut


@pytest.mark.slow
def test_what_cannot_be_answered(folder, graph):  # noqa: F811
    done = run("who", "-m", folder / "model", "-g", graph.folder, code=2)
    assert_refused(done, "answerer", str(folder / "model"))
    asked = ("xyzzy", "-m", folder / "answerer", "-g", graph.folder, "-q")
    assert_refused(run(*asked, code=2), "xyzzy", "--about")
    (folder / "train2").mkdir()
    options = ("-m", folder / "model", "-g", graph.folder, "--data", folder / "train2")
    assert_refused(run("train", *options, "--out", folder / "x", code=2), "train.jsonl")
