"""The knowledge of a saved graft is opened again as the graft stores it."""

import numpy as np
import pytest
from tests.graft.senses import tiny_wordnet

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, GraphKnowledge, WordNetKnowledge, open_knowledge
from kgraft.text import Encoder


@pytest.mark.slow
def test_a_graft_makes_its_knowledge_again(graph, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(graph.folder)
    assert type(knowledge) is GraphKnowledge
    assert knowledge.config.kind == "graph"
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    encoder = GraftedEncoder(host, {2: knowledge})
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft")
    texts = ["Paris lies in Texas."]
    again.max_length = encoder.max_length
    assert np.array_equal(again.encode(texts), encoder.encode(texts))


def test_a_graph_of_word_senses_is_known_by_lemmas(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(tiny_wordnet(tmp_path).folder)
    assert isinstance(knowledge, WordNetKnowledge)
    assert knowledge.size == 384 * 2 + 5


@pytest.mark.slow
def test_ancestors_are_known_again(tmp_path, host_folder, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(tiny_wordnet(tmp_path).folder, hypernym_relations=["hypernym"])
    assert knowledge.size == 384 * 2 + 5 + 128
    encoder = GraftedEncoder(Encoder.load(host_folder, device="cpu"), {2: knowledge})
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft")
    assert np.array_equal(again.encode(["a dog"]), encoder.encode(["a dog"]))


def test_a_kind_that_is_not_registered_is_refused(graph):
    with pytest.raises(BadInput, match=r"'magic'.*graph"):
        open_knowledge(graph.folder, kind="magic")


def test_word_senses_need_a_graph_of_them(graph, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BadInput, match="parts of speech"):
        open_knowledge(graph.folder, kind="wordnet")
