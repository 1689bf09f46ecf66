"""Conclusions of rules: predicted facts are paths of one step, as sure as they are."""

import numpy as np
import pytest
from tests.graft.drawn_paths import ALL_COUNT, DrawnPaths, DrawnRules
from tests.graft.test_predicted_facts import FACTS, write

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, RuleKnowledge, knowledge_off, open_knowledge
from kgraft.text import Encoder

TEXTS = ["Berlin is in Germany.", "Paris lies in France."]


@pytest.fixture
def facts(tmp_path):
    return write(tmp_path / "facts.jsonl")


def rows(paths):
    columns = (paths.pair, paths.code, paths.weight)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_conclusions_stand_beside_what_is_stated(graph, facts):
    stated, rules = DrawnPaths(graph), DrawnRules(graph, facts)
    ids = [("fr-paris", "france"), ("germany", "berlin"), ("nyc", "ny"), ("r0", "tokyo")]
    pairs = np.array([[graph.index(name) for name in pair] for pair in ids]).T
    lies, relations = graph.relation("lies in").index, len(graph.relations)
    conclusions = [
        (0, lies + 1, pytest.approx(0.8)),
        (1, lies + relations + 1, 1.0),
    ]
    expected = rows(stated.paths_between(*pairs)) + conclusions
    assert rows(rules.paths_between(*pairs)) == sorted(expected, key=lambda row: row[:2])


def test_less_sure_facts_add_less(graph, tmp_path, host_folder):
    changes = []
    for confidence in (1e-6, 0.3, 1.0):
        path = write(tmp_path / "f.jsonl", [FACTS[0] | {"tail": "tokyo", "confidence": confidence}])
        host = Encoder.load(host_folder, device="cpu", max_length=64)
        encoder = GraftedEncoder(host, {2: DrawnRules(graph, path)}, settings={2: ALL_COUNT})
        on = encoder.encode(["Paris and Tokyo"])
        host = Encoder.load(host_folder, device="cpu", max_length=64)
        plain = GraftedEncoder(host, {2: DrawnPaths(graph)}, settings={2: ALL_COUNT})
        changes.append(np.abs(on - plain.encode(["Paris and Tokyo"])).sum())
    assert changes[0] < 1e-3 * changes[1]
    assert changes[1] < changes[2]


def test_a_saved_graft_needs_the_same_facts(graph, facts, host_folder, tmp_path):
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    plain = Encoder.load(host_folder, device="cpu", max_length=64)
    plain.model.eval()
    encoder = GraftedEncoder(host, {2: DrawnRules(graph, facts)}, settings={2: ALL_COUNT})
    with knowledge_off(encoder.model):
        assert np.array_equal(encoder.encode(TEXTS), plain.encode(TEXTS))
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft", {2: DrawnRules(graph, facts)})
    assert np.array_equal(again.encode(TEXTS), encoder.encode(TEXTS))
    other = DrawnRules(graph, write(tmp_path / "other.jsonl", FACTS[:1]))
    with pytest.raises(BadInput, match="predicted"):
        GraftedEncoder.from_pretrained(tmp_path / "graft", {2: other})


@pytest.mark.slow
def test_an_opened_graft_reads_its_facts_again(graph, facts, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(graph.folder, kind="rules", facts=facts)
    assert type(knowledge) is RuleKnowledge
    encoder = GraftedEncoder(Encoder.load(host_folder, device="cpu"), {2: knowledge})
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft")
    assert np.array_equal(again.encode(TEXTS), encoder.encode(TEXTS))


@pytest.mark.parametrize(("kind", "given"), [("rules", False), ("paths", True), (None, True)])
def test_facts_go_with_rules(graph, facts, kind, given):
    with pytest.raises(BadInput, match="predicted facts"):
        open_knowledge(graph.folder, kind=kind, facts=facts if given else None)
