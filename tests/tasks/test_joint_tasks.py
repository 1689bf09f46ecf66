"""Joint models are measured with their knowledge on and off."""

import json

import pytest
from tests.joint.conftest import CONFIG
from tests.tasks.test_few_shot import line
from tests.tasks.test_graph_questions import ASKED

from kgraft.joint import JointModel
from kgraft.tasks import evaluate_joint, joint_tasks
from kgraft.tasks.entity_classes import EntitySettings
from kgraft.tasks.few_shot import EpisodeSettings
from kgraft.tasks.graph_questions import QuestionSettings
from kgraft.text import Encoder


@pytest.fixture
def load(host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    for name, quick in {
        "EntitySettings": EntitySettings(epochs=2, batch=8),
        "EpisodeSettings": EpisodeSettings(steps=4, validate_every=2, ways=2, texts=2, asked=20),
        "QuestionSettings": QuestionSettings(hops=2, epochs=1, batch=4),
    }.items():
        monkeypatch.setattr(joint_tasks, name, lambda quick=quick: quick)
    return lambda: JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)


def test_classes(load, graph):
    found = evaluate_joint("classes", load, graph, seeds=2)
    assert 0 <= found.on <= 1
    assert found.low <= found.difference <= found.high


def test_relations(load, graph, tmp_path, monkeypatch):
    monkeypatch.setattr(joint_tasks, "ASKED", 50)
    pairs = {"capital": ("Paris", "France"), "pays in": ("Germany", "euro"),
             "lies in": ("Paris", "Texas"), "borders": ("France", "Germany")}  # fmt: skip
    for name, relations in (("train", pairs), ("test", ("capital", "borders"))):
        lines = [
            line(f"{n} : {pairs[r][0]} {r} {pairs[r][1]}", *pairs[r], r, ("fr-paris", "france"))
            for n in range(4)
            for r in relations
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = evaluate_joint("relations", load, graph, tmp_path)
    assert 0 <= found.on <= 1


def test_questions(load, graph, tmp_path):
    for name in ("train", "dev", "test"):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for text, topic, answers in ASKED:
                start = text.index(topic)
                mention = {"start": start, "end": start + len(topic), "label": topic}
                told = {"text": text, "mentions": [mention], "answers": answers}
                file.write(json.dumps(told) + "\n")
    found = evaluate_joint("questions", load, graph, tmp_path)
    assert 0 <= found.off <= 1
