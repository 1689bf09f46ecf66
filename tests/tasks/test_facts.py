"""Facts are asked for in words, and the hidden object is ranked among all words."""

import numpy as np
import pytest
import torch
from tests.graft.conftest import SETTINGS, DrawnVectors

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, GraftSettings
from kgraft.graft import expecting as expecting_module
from kgraft.graft.expecting import ExpectingKnowledge
from kgraft.graft.mentions import NIL
from kgraft.graft.trainee import GraftTrainee, read_batch
from kgraft.tasks import clozes, reciprocal_ranks
from kgraft.tasks.facts import noticed_clozes, object_tokens
from kgraft.text import Encoder
from kgraft.text.masked import MaskedHead


@pytest.fixture
def asked(encoder, graph):
    return clozes(encoder, graph, graph.triples, graph.triples)


def test_facts_in_words(asked):
    assert "Paris is the capital of [MASK] ." in asked.texts
    assert "Paris lies in [MASK] ." in asked.texts  # this relation has no template
    assert all(text.count("[MASK]") == 1 for text in asked.texts)


def test_objects_of_one_token(encoder, graph):
    token = object_tokens(encoder, graph)
    labels = graph.entities["label"].to_pylist()
    tokenizer = encoder.tokenizer
    for label, found in zip(labels, token, strict=True):
        pieces = tokenizer.encode(label or "", add_special_tokens=False)
        assert found == (pieces[0] if len(pieces) == 1 else -1)


@pytest.mark.slow
@pytest.mark.parametrize("knowing", [True, False])
def test_ranks(encoder, asked, knowing):
    torch.manual_seed(0)
    head = MaskedHead.of(encoder).eval()
    asked.others[0] = np.arange(2000, 2100)
    asked.others[0] = asked.others[0][asked.others[0] != asked.word[0]]
    counts = reciprocal_ranks(encoder, head, asked, knowing=knowing)
    words = encoder.model.get_input_embeddings().weight
    for row, text in enumerate(asked.texts):
        windows = encoder.windows([text])
        ids, mask = map(torch.from_numpy, windows.padded(np.array([0])))
        beside = encoder.beside(windows, np.array([0])) if knowing else {}
        with torch.no_grad():
            read = encoder.model(input_ids=ids, attention_mask=mask.long(), **beside)
            place = ids[0].tolist().index(encoder.tokenizer.mask_token_id)
            scores = head(read.last_hidden_state[0, place], words)
        rivals = [w for w in range(len(scores)) if w not in asked.others[row]]
        rank = 1 + sum(bool(scores[w] > scores[asked.word[row]]) for w in rivals)
        assert counts[row].tolist() == pytest.approx([1 / rank, 1], rel=0.02)


def test_some_of_the_facts(asked):
    some = asked.part(np.array([1]))
    assert some.texts == asked.texts[1:2]
    assert some.word.tolist() == asked.word[1:2].tolist()
    assert some.subject.tolist() == asked.subject[1:2].tolist()
    assert len(some.others) == 1


@pytest.fixture
def expecting(host_folder, graph):
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    knowledge = ExpectingKnowledge(graph, DrawnVectors(graph))
    return GraftedEncoder(host, {2: knowledge}, settings={2: SETTINGS})


def test_the_hidden_word_of_a_fact_is_known(expecting, asked):
    windows = noticed_clozes(expecting, 2, asked, forgotten=0.0)
    batch = windows.mentions(np.arange(len(windows)))[2]
    rows, spans = (batch.known >= 0).nonzero(as_tuple=True)
    assert rows.tolist() == list(range(len(asked)))
    place = batch.known[rows, spans]
    assert batch.entity[rows, spans, place].tolist() == asked.entity.tolist()
    ids, _ = windows.padded(np.arange(len(windows)))
    column = (ids == expecting.tokenizer.mask_token_id).argmax(1)
    assert batch.first[rows, spans].tolist() == column.tolist()
    assert windows.hidden.tolist() == asked.word.tolist()


def test_knowledge_that_expects_nothing_is_refused(encoder, asked):
    layer = encoder.grafts.layers[0]
    with pytest.raises(BadInput, match=f"after layer {layer} expects nothing .*hidden='"):
        noticed_clozes(encoder, layer, asked)


def test_a_forgotten_fact_is_expected_only_by_what_is_said_of_others(expecting, asked, monkeypatch):
    told = expecting.grafts.knowledge[2].find(asked.texts)
    alone = expecting.grafts.knowledge[2].find(asked.texts, without=asked.entity)
    for number, (before, after) in enumerate(
        zip(priors(told, asked), priors(alone, asked), strict=True)
    ):
        assert after.get(int(asked.entity[number]), 0.0) < before[int(asked.entity[number])]
    monkeypatch.setattr(expecting_module, "RELATIONS", 0)
    batch = noticed_clozes(expecting, 2, asked, forgotten=1.0).mentions(np.arange(len(asked)))[2]
    rows, spans = (batch.known == NIL).nonzero(as_tuple=True)
    assert rows.tolist() == list(range(len(asked)))
    expected = batch.entity[rows, spans].tolist()
    assert not any(e in held for e, held in zip(asked.entity.tolist(), expected, strict=True))


def priors(named, asked):
    """Return what each hidden word may be."""
    start = named.bounds[:-1] + [text.index("[MASK]") for text in asked.texts]
    for row in named.rows(start, start + len("[MASK]")).tolist():
        held = slice(*named.candidates[row : row + 2])
        yield dict(zip(named.entity[held].tolist(), named.prior[held].tolist(), strict=True))


@pytest.mark.slow
def test_facts_are_learnt(expecting, asked):
    windows = noticed_clozes(expecting, 2, asked, forgotten=0.0)
    head = MaskedHead.of(expecting)
    settings = GraftSettings(
        linker_epochs=0, epochs=90, masked=1.0, graft_rate=1e-2, above_rate=1e-3, host_rate=1e-3,
        head_rate=1e-2, loss="likelihood",
    )  # fmt: skip
    made = GraftTrainee(expecting, head, windows, windows, settings)
    before = made.validate()
    losses = made.step(made.batches(0)[0], 0)
    assert set(losses) == {"loss", "words", "links.2"}
    ids, _, mentions = read_batch(windows, np.arange(3))
    masked = made._masked(windows, np.arange(3), ids, torch.Generator())
    assert made._hidden(mentions, masked, torch.Generator()) is mentions  # nothing to give away
    for place in range(1, 90):
        losses = made.step(made.batches(place)[0], place)
    after = made.validate()
    assert after["perplexity"] < before["perplexity"] / 10
    assert after["accuracy"] > before["accuracy"]
