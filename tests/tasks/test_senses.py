"""Marked words get the sense that weighs most, among those of their lemma and part of speech."""

import json

import numpy as np
import pytest
from tests.graft.conftest import SETTINGS
from tests.graft.senses import knowledge_of, tiny_wordnet

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, GraftSettings, train_graft
from kgraft.graph import Graph, build_graph
from kgraft.graph.readers.tables import TablesSource
from kgraft.tasks import choose_senses, first_senses, noticed_senses, read_senses, sense_counts
from kgraft.tasks.senses import (
    Sentence,
    collect,
    example_sentences,
    found_senses,
    sense_sentences,
)
from kgraft.text import Encoder

DOG, CHASE = "dog%1:05:00::", "dog%2:38:01::"


@pytest.fixture(scope="module")
def senses(tmp_path_factory):
    return knowledge_of(tiny_wordnet(tmp_path_factory.mktemp("wordnet")))


def word(start, end, pos, *keys):
    return {"start": start, "end": end, "lemma": "dog", "pos": pos, "entities": list(keys)}


def write(folder, *lines):
    path = folder / "words.jsonl"
    path.write_text("\n".join(json.dumps({"text": text, "mentions": m}) for text, m in lines))
    return path


def test_reading(senses, tmp_path):
    path = write(tmp_path, ("a dog", [word(2, 5, "NOUN", DOG, "gone%1")]), ("so", []))
    data = read_senses(senses, path)
    assert len(data) == 1
    assert data.gold == [frozenset(senses.graph.numbers_of(["00000100-n"]))]
    assert sense_counts(data, first_senses(data)).tolist() == [[1, 1]]


def test_a_word_without_senses_counts_as_wrong(senses, tmp_path):
    path = write(tmp_path, ("dog", [word(0, 3, "ADV", DOG)]), ("dog", [word(0, 3, "NOUN", DOG)]))
    data = read_senses(senses, path)
    assert sense_counts(data, first_senses(data)).tolist() == [[0, 1], [1, 1]]


def test_a_bad_line(senses, tmp_path):
    path = tmp_path / "words.jsonl"
    path.write_text('{"text": "a dog", "mentions": [{}]}')
    with pytest.raises(BadInput, match=r"words.jsonl:1: no sentence with senses"):
        read_senses(senses, path)


def test_the_examples_of_glosses(senses):
    [(text, [(start, end, lemma, pos, keys)], _)] = list(example_sentences(senses))
    assert text == "the dog / barked"
    assert (text[start:end], lemma, pos, keys) == ("dog", "dog", "NOUN", [DOG])


@pytest.mark.slow
def test_choosing_after_training(senses, host_folder, tmp_path):
    """Both senses are offered under one lemma; the words around tell them apart."""
    host = Encoder.load(host_folder, device="cpu", max_length=32)
    encoder = GraftedEncoder(host, {2: senses}, settings={2: SETTINGS})
    both = np.array(senses.graph.numbers_of(["00000100-n", "00000300-v"]))
    data = collect(
        senses,
        [
            Sentence("it barks like a dog", [(16, 19, "dog", "NOUN", [DOG])]),
            Sentence("they will dog him", [(10, 13, "dog", "VERB", [CHASE])]),
        ],
    )
    named = data.named
    wide = type(named)(
        named.bounds, named.word_starts, named.word_ends, named.start, named.end,
        np.array([0, 2, 4]), np.tile(both, 2), np.full(4, 0.5, np.float32),
    )  # fmt: skip
    data = type(data)(data.texts, wide, data.gold)
    texts = noticed_senses(encoder, 2, data)
    settings = GraftSettings(linker_epochs=40, epochs=0, linker_rate=1e-2, patience=99)
    list(train_graft(encoder, texts, tmp_path / "graft", valid=texts, settings=settings))
    assert choose_senses(encoder, 2, data).tolist() == both.tolist()


def test_words_are_found_without_being_told_of(senses, host_folder):
    """A word may then mean the senses of all parts of speech; marked ones know theirs."""
    host = Encoder.load(host_folder, device="cpu", max_length=32)
    encoder = GraftedEncoder(host, {2: senses}, settings={2: SETTINGS})
    sentences = [
        Sentence("it barks like a dog", [(16, 19, "dog", "NOUN", [DOG])]),
        Sentence("they dog him, the dog", [(5, 8, "dog", "VERB", [CHASE])]),
    ]
    found = found_senses(encoder, 2, collect(senses, sentences)).mentions(np.array([0, 1]))[2]
    noun, verb = senses.graph.numbers_of(["00000100-n", "00000300-v"]).tolist()
    gold = [
        [candidates[place] if place >= 0 else None for candidates, place in zip(*row, strict=True)]
        for row in zip(found.entity.tolist(), found.known.tolist(), strict=True)
    ]
    assert gold == [[noun, None], [verb, None]]  # the second of the first text is padding
    assert all({noun, verb} <= set(candidates) for candidates in found.entity[1].tolist())


def test_sentences_of_a_document_are_read_together(senses, tmp_path):
    lines = [
        {"id": "d1.s1", "text": "a dog", "mentions": [word(2, 5, "NOUN", DOG)]},
        {"id": "d1.s2", "text": "they dog him", "mentions": [word(5, 8, "VERB", CHASE)]},
        {"id": "d2.s1", "text": "no dog", "mentions": [word(3, 6, "NOUN", DOG)]},
        {"id": "7", "text": "one dog", "mentions": []},
        {"id": "8", "text": "a dog", "mentions": []},
    ]
    path = tmp_path / "words.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    sentences = list(sense_sentences(path))
    assert [s.text for s in sentences] == ["a dog they dog him", "no dog", "one dog", "a dog"]
    assert [s.text[w[0] : w[1]] for s in sentences for w in s.words] == ["dog"] * 3
    assert [w[3] for s in sentences for w in s.words] == ["NOUN", "VERB", "NOUN"]
    assert [s.document for s in sentences] == ["d1", "d2", "#3", "#4"]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Make bank a noun of two senses, counted 3 times and once."""
    folder = tmp_path_factory.mktemp("bank")
    triples = [("shore", "near", "money")]
    entities = [
        {"id": "shore", "label": "bank", "pos": "n", "sense_numbers": "1", "examples": "",
         "sense_keys": "bank%1", "name_counts": [3]},
        {"id": "money", "label": "bank", "pos": "n", "sense_numbers": "2", "examples": "",
         "sense_keys": "bank%2", "name_counts": [1]},
    ]  # fmt: skip
    build_graph(TablesSource(triples, entities), folder / "graph", name="senses")
    return knowledge_of(Graph.open(folder / "graph"))


def test_counts_of_a_document_are_not_told_to_itself(both):
    """What it added to the counts is taken off for its own words, and for no others."""

    def bank(document, *keys):
        words = [(5 * n, 5 * n + 4, "bank", "NOUN", [key]) for n, key in enumerate(keys)]
        return Sentence("bank " * len(keys), words, document)

    sentences = [bank("a", "bank%1", "bank%2"), bank("b", "bank%1"), bank("", "bank%1")]
    told, plain = (collect(both, sentences, counted=counted) for counted in (sentences, ()))
    counts = [(3 - 1, 1 - 1), (3 - 1, 1 - 1), (3 - 1, 1), (3, 1)]
    expected = [np.array([a + 2, b + 1.5]) / (a + b + 3.5) for a, b in counts]  # 1 + 1/n more
    np.testing.assert_allclose(told.named.prior.reshape(-1, 2), expected, rtol=1e-6)
    np.testing.assert_allclose(plain.named.prior.reshape(-1, 2), [[5 / 7.5, 2.5 / 7.5]] * 4)
