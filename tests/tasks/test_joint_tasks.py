"""Joint models are measured with their knowledge on and off."""

import json

import pytest
import torch
from tests.embed.tiny import build, desk_triples
from tests.joint.conftest import CONFIG
from tests.tasks.asked import write_questions
from tests.tasks.test_few_shot import line

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import JointModel, new_heads, open_memory
from kgraft.joint.graph_losses import GraphLosses
from kgraft.tasks import evaluate_joint, joint_tasks
from kgraft.tasks.entity_classes import EntitySettings
from kgraft.tasks.few_shot import EpisodeSettings
from kgraft.tasks.graph_answers import QuestionSettings
from kgraft.tasks.joint_learner import JointLearner
from kgraft.tasks.link_prediction import PredictionSettings
from kgraft.text import Encoder


@pytest.fixture
def load(host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    for name, quick in {
        "EntitySettings": EntitySettings(epochs=2, batch=8),
        "EpisodeSettings": EpisodeSettings(steps=4, validate_every=2, ways=2, texts=2, asked=20),
        "QuestionSettings": QuestionSettings(hops=2, epochs=1, batch=4),
        "PredictionSettings": PredictionSettings(epochs=1, batch=8, strangers=4),
    }.items():
        monkeypatch.setattr(joint_tasks, name, lambda quick=quick: quick)
    return lambda: JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)


@pytest.mark.slow
def test_classes(load, graph):
    found = evaluate_joint("classes", load, graph, seeds=2)
    assert 0 <= found.on <= 1
    assert found.low <= found.difference <= found.high


@pytest.mark.slow
def test_links(load, tmp_path):
    build(tmp_path / "desks", desk_triples())
    found = evaluate_joint("links", load, Graph.open(tmp_path / "desks"))
    assert 0 < found.on <= 1
    assert 0 < found.off <= 1


@pytest.mark.parametrize(
    ("task", "said"), [("links", "no test facts"), ("classes", "no entity has a type")]
)
def test_what_the_graph_lacks_is_said_at_once(task, said, load, tmp_path, monkeypatch):
    monkeypatch.setattr(joint_tasks, "open_memory", None)  # nothing is read before
    build(tmp_path / "untyped", [triple[:3] for triple in desk_triples()])
    with pytest.raises(BadInput, match=said):
        evaluate_joint(task, load, Graph.open(tmp_path / "untyped"))


@pytest.fixture
def relation_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(joint_tasks, "ASKED", 50)
    pairs = {"capital": ("Paris", "France"), "pays in": ("Germany", "euro"),
             "lies in": ("Paris", "Texas"), "borders": ("France", "Germany"),
             "rules": ("Berlin", "Germany"), "flows by": ("Paris", "euro")}  # fmt: skip
    for name, relations in (("train", pairs), ("test", ("capital", "borders"))):
        lines = [
            line(f"{n} : {pairs[r][0]} {r} {pairs[r][1]}", *pairs[r], r, ("fr-paris", "france"))
            for n in range(4)
            for r in relations
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


@pytest.mark.slow
def test_relations(load, graph, relation_texts):
    found = evaluate_joint("relations", load, graph, relation_texts)
    assert 0 <= found.on <= 1


@pytest.mark.slow
def test_what_the_graph_asks_may_be_learnt_with_relations(load, graph, relation_texts):
    tuning = joint_tasks.FineTuning(load(), graph, beside=True)
    right = joint_tasks.few_shot(tuning, relation_texts)
    assert set(right.tolist()) <= {0.0, 1.0}
    assert len(right) == 50


def test_what_is_asked_beside_the_task_is_learnt_with_it(load, graph, tmp_path):
    model = load()
    memory = open_memory(model, graph)
    heads = new_heads(model, graph, 0)
    losses = GraphLosses(model, heads, graph, memory)
    learner = JointLearner(model, [(0.0, [])], seed=0, beside=losses, rate=1e-2)
    learner.steps = 10
    before = heads.relations.outer.weight.clone()
    told = learner.move(model.language.norm.weight.sum(), 0)
    assert told["loss"] == pytest.approx(told["task"] + told["categories"] + told["relations"])
    assert not torch.equal(heads.relations.outer.weight, before)
    assert "module.heads.relations.outer.weight" in learner.state()


@pytest.mark.slow
def test_questions(load, graph, tmp_path):
    for name in ("train", "dev", "test"):
        write_questions(tmp_path / f"{name}.jsonl")
    found = evaluate_joint("questions", load, graph, tmp_path)
    assert 0 <= found.off <= 1
