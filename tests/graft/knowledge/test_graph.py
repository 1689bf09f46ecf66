"""The knowledge of a graph: vectors of one length, and texts to train on."""

import json

import numpy as np
import pytest
import torch
from tests.graft.annotated import examples

from kgraft.errors import BadInput
from kgraft.graft import GRAFTS, KNOWLEDGE, GraphKnowledge, TextSettings
from kgraft.graft.knowledge import graph as module


@pytest.fixture
def path(tmp_path):
    """Annotated texts of documents of six."""
    path = tmp_path / "texts.jsonl"
    with path.open("w") as file:
        for number, (text, mentions) in enumerate(list(examples()) * 4):
            line = {"id": f"d{number // 6}.{number}", "text": text, "mentions": mentions}
            file.write(json.dumps(line) + "\n")
    return path


def test_vectors_have_the_length_of_their_size(knowledge, monkeypatch):
    entities = torch.tensor([[0, -1], [3, 0]])
    vectors = knowledge.take(entities)
    lengths = vectors.norm(dim=-1)
    expected = knowledge.size**0.5 * (entities >= 0)
    torch.testing.assert_close(lengths, expected)
    monkeypatch.setattr(module, "IN_MEMORY", 0)
    streamed = GraphKnowledge(knowledge.graph, knowledge.vectors)
    torch.testing.assert_close(streamed.take(entities), vectors)


def test_texts_of_a_file(encoder, knowledge, path):
    data = knowledge.training_texts(encoder, 2, path)
    assert (len(data.train), len(data.valid)) == (33, 3)
    assert data.train.follows is None
    batch = data.train.mentions(np.arange(33))[2]
    assert int((batch.gold_rank >= 0).sum()) == 33


def test_pairs_of_sentences(encoder, knowledge, path):
    settings = TextSettings(next_sentence=True)
    data = knowledge.training_texts(encoder, 2, path, settings)
    assert (len(data.train), len(data.valid)) == (15, 3)
    assert set(data.train.follows.tolist()) == {0, 1}


def test_the_graph_has_texts_of_its_own(encoder, knowledge, monkeypatch):
    from kgraft.corpus import verbalise_graph

    monkeypatch.setattr(module, "verbalise_graph", lambda g, seed: verbalise_graph(g, count=20))
    data = knowledge.training_texts(encoder, 2)
    assert len(data.train.tokens.bounds) - 1 == 18


def test_pairs_need_documents(encoder, knowledge, path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("\n".join(json.dumps({**line, "id": None}) for line in lines))
    for file in (path, None):
        with pytest.raises(BadInput, match=r"doc1\.1"):
            knowledge.training_texts(encoder, 2, file, TextSettings(next_sentence=True))


@pytest.mark.parametrize("name", ["open_vocabulary", "exclude_own_counts"])
def test_settings_of_senses_need_senses(encoder, knowledge, path, name):
    with pytest.raises(BadInput, match=name):
        knowledge.training_texts(encoder, 2, path, TextSettings(**{name: True}))


def test_all_kinds_are_registered_under_the_name_of_their_file():
    assert KNOWLEDGE.names() == ["fact-recall", "graph", "paths", "rules", "wordnet"]
    assert GRAFTS.names() == ["attention", "entity", "relation"]
    for registry in (KNOWLEDGE, GRAFTS):
        for name in registry:
            assert registry[name].__module__.endswith(name.replace("-", "_"))
