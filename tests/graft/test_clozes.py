"""Facts are said in words with a hidden object, which knowledge can recall or has forgotten."""

import numpy as np
import pytest
import torch
from tests.graft.conftest import SETTINGS, DrawnVectors

from kgraft.errors import BadInput
from kgraft.graft import (
    FactRecallKnowledge,
    GraftedEncoder,
    GraftSettings,
    locate_clozes,
    make_clozes,
)
from kgraft.graft.clozes import object_tokens
from kgraft.graft.knowledge import fact_recall
from kgraft.graft.task import GraftTask, read_batch
from kgraft.text import NIL, Encoder, MaskedHead


@pytest.fixture
def clozes(encoder, graph):
    return make_clozes(encoder, graph, graph.triples, graph.triples)


@pytest.fixture
def recalling(host_folder, graph):
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    knowledge = FactRecallKnowledge(graph, DrawnVectors(graph))
    return GraftedEncoder(host, {2: knowledge}, settings={2: SETTINGS})


def test_facts_in_words(clozes):
    assert "Paris is the capital of [MASK] ." in clozes.texts
    assert "Paris lies in [MASK] ." in clozes.texts  # this relation has no template
    assert all(text.count("[MASK]") == 1 for text in clozes.texts)


def test_objects_of_one_token(encoder, graph):
    token = object_tokens(encoder, graph)
    labels = graph.entities["label"].to_pylist()
    for label, found in zip(labels, token, strict=True):
        pieces = encoder.tokenizer.encode(label or "", add_special_tokens=False)
        assert found == (pieces[0] if len(pieces) == 1 else -1)


def test_some_of_the_facts(clozes):
    one = clozes.select(np.array([1]))
    assert one.texts == clozes.texts[1:2]
    assert one.word.tolist() == clozes.word[1:2].tolist()
    assert one.subject.tolist() == clozes.subject[1:2].tolist()
    assert len(one.others) == 1
    assert one.digest() != clozes.digest()


def test_the_hidden_word_of_a_fact_is_known(recalling, clozes):
    windows = locate_clozes(recalling, 2, clozes, forgotten=0.0)
    batch = windows.mentions(np.arange(len(windows)))[2]
    rows, spans = (batch.gold_rank >= 0).nonzero(as_tuple=True)
    assert rows.tolist() == list(range(len(clozes)))
    rank = batch.gold_rank[rows, spans]
    assert batch.entity[rows, spans, rank].tolist() == clozes.entity.tolist()
    ids, _ = windows.padded(np.arange(len(windows)))
    column = (ids == recalling.tokenizer.mask_token_id).argmax(1)
    assert batch.first[rows, spans].tolist() == column.tolist()
    assert windows.masked_word.tolist() == clozes.word.tolist()


def test_knowledge_that_recalls_no_facts_is_refused(encoder, clozes):
    layer = encoder.grafts.layers[0]
    with pytest.raises(BadInput, match=f"after layer {layer}.*kind='fact-recall'"):
        locate_clozes(encoder, layer, clozes)


def candidates_of(mentions, clozes):
    """Return what each hidden word may be, with priors."""
    start = np.array([text.index("[MASK]") for text in clozes.texts])
    rows = mentions.rows_of(np.arange(len(clozes)), start, start + len("[MASK]"))
    for row in rows.tolist():
        own = slice(*mentions.bounds[row : row + 2])
        yield dict(zip(mentions.entity[own].tolist(), mentions.prior[own].tolist(), strict=True))


def test_a_forgotten_fact_is_recalled_only_by_those_of_others(recalling, clozes, monkeypatch):
    knowledge = recalling.grafts.knowledge[2]
    known = candidates_of(knowledge.find(clozes.texts), clozes)
    forgotten = candidates_of(knowledge.find(clozes.texts, exclude=clozes.entity), clozes)
    for entity, before, after in zip(clozes.entity.tolist(), known, forgotten, strict=True):
        assert after.get(entity, 0.0) < before[entity]
    monkeypatch.setattr(fact_recall, "RELATIONS", 0)
    windows = locate_clozes(recalling, 2, clozes, forgotten=1.0)
    batch = windows.mentions(np.arange(len(clozes)))[2]
    rows, spans = (batch.gold_rank == NIL).nonzero(as_tuple=True)
    assert rows.tolist() == list(range(len(clozes)))
    offered = batch.entity[rows, spans].tolist()
    assert not any(e in own for e, own in zip(clozes.entity.tolist(), offered, strict=True))


@pytest.mark.slow
def test_facts_are_learnt(recalling, clozes):
    windows = locate_clozes(recalling, 2, clozes, forgotten=0.0)
    settings = GraftSettings(
        linker_epochs=0, epochs=90, masked_fraction=1.0, graft_rate=1e-2, above_rate=1e-3,
        host_rate=1e-3, head_rate=1e-2, linker_loss="likelihood",
    )  # fmt: skip
    task = GraftTask(recalling, windows, windows, settings, head=MaskedHead.of(recalling))
    before = task.validate()
    losses = task.step(task.batches(0)[0], 0)
    assert set(losses) == {"loss", "words", "links.2"}
    ids, _, mentions = read_batch(windows, np.arange(3))
    masked = task._masked(windows, np.arange(3), ids, torch.Generator())
    assert task._shown(mentions, masked, torch.Generator()) is mentions  # nothing to give away
    for step in range(1, 90):
        task.step(task.batches(step)[0], step)
    after = task.validate()
    assert after["perplexity"] < before["perplexity"] / 10
    assert after["accuracy"] > before["accuracy"]
