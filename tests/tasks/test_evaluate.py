"""Joint models are measured with their knowledge on and off."""

import json

import pytest
from tests.embed.tiny import build, desk_triples
from tests.joint.conftest import CONFIG
from tests.tasks.joint.test_relations import line

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import FineTuning, JointModel, fine_tuning
from kgraft.tasks import (
    JOINT_TASKS,
    EntityClassSettings,
    FewShotSettings,
    LinkPredictionSettings,
    evaluate_encoder,
    evaluate_joint,
)
from kgraft.text import Encoder

QUICK = {
    "classes": EntityClassSettings(epochs=2, batch=8),
    "links": LinkPredictionSettings(epochs=1, batch=8, random_negatives=4),
    "relations": FewShotSettings(epochs=2, steps=2, ways=2, texts=2, valid_episodes=20),
}


@pytest.fixture
def load(host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    for name, quick in QUICK.items():
        monkeypatch.setattr(JOINT_TASKS[name], "settings", quick)
    return lambda: JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)


@pytest.mark.slow
def test_classes(load, graph):
    difference = evaluate_joint("classes", load, graph, seeds=2)
    assert 0 <= difference.on <= 1
    assert difference.low <= difference.difference <= difference.high


@pytest.mark.slow
def test_links(load, tmp_path):
    build(tmp_path / "desks", desk_triples())
    difference = evaluate_joint("links", load, Graph.open(tmp_path / "desks"))
    assert 0 < difference.on <= 1
    assert 0 < difference.off <= 1


@pytest.mark.parametrize(("task", "lacking"), [("links", "test facts"), ("classes", "type")])
def test_what_the_graph_lacks_is_refused_at_once(task, lacking, load, tmp_path, monkeypatch):
    monkeypatch.setattr(fine_tuning, "open_memory", None)  # nothing is read before
    build(tmp_path / "untyped", [triple[:3] for triple in desk_triples()])
    with pytest.raises(BadInput, match=lacking):
        evaluate_joint(task, load, Graph.open(tmp_path / "untyped"))


@pytest.fixture
def relation_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(JOINT_TASKS["relations"], "test_episodes", 50)
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
    difference = evaluate_joint("relations", load, graph, relation_texts)
    assert 0 <= difference.on <= 1


@pytest.mark.slow
def test_the_graph_may_be_learned_along_with_relations(load, graph, relation_texts):
    tuning = FineTuning(load(), graph, multi_task=True)
    right = JOINT_TASKS["relations"].measure(tuning, relation_texts)
    assert right.shape == (50,)
    assert right.dtype == bool


def test_a_task_with_texts_needs_them(load, graph):
    with pytest.raises(BadInput, match="--data"):
        evaluate_joint("relations", load, graph)


@pytest.mark.parametrize("name", ["classes", "links"])
def test_what_pre_training_learned_of_the_same_graph_is_not_asked(name, graph):
    loss = JOINT_TASKS[name].pretraining_loss
    weights = dict.fromkeys(("words", "mentions", "categories", "relations"), 1.0)
    facts = {"graph": graph.manifest.version, "settings": {"weights": weights}}
    with pytest.raises(BadInput, match=f"--{loss} 0"):
        JOINT_TASKS[name].refuse_learned(facts, graph)
    JOINT_TASKS["relations"].refuse_learned(facts, graph)
    JOINT_TASKS[name].refuse_learned({**facts, "graph": "another"}, graph)
    weights[loss] = 0.0
    JOINT_TASKS[name].refuse_learned(facts, graph)


def test_a_task_that_needs_a_graft(tmp_path):
    with pytest.raises(BadInput, match="senses"):
        evaluate_encoder("senses", None, tmp_path)
