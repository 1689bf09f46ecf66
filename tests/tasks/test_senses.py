"""Marked words get the sense that weighs most, among those of their lemma and part of speech."""

import json

import numpy as np
import pytest
from tests.graft.conftest import SETTINGS
from tests.graft.senses import knowledge_of, tiny_wordnet

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, GraftSettings, train_graft
from kgraft.tasks import choose_senses, first_senses, noticed_senses, read_senses, sense_counts
from kgraft.tasks.senses import collect, example_sentences, sense_sentences
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
    [(text, [(start, end, lemma, pos, keys)])] = list(example_sentences(senses))
    assert text == "the dog / barked"
    assert (text[start:end], lemma, pos, keys) == ("dog", "dog", "NOUN", [DOG])


def test_choosing_after_training(senses, host_folder, tmp_path):
    """Both senses are offered under one lemma; the words around tell them apart."""
    host = Encoder.load(host_folder, device="cpu", max_length=32)
    encoder = GraftedEncoder(host, {2: senses}, settings={2: SETTINGS})
    both = np.array(senses.graph.numbers_of(["00000100-n", "00000300-v"]))
    data = collect(
        senses,
        [
            ("it barks like a dog", [(16, 19, "dog", "NOUN", [DOG])]),
            ("they will dog him", [(10, 13, "dog", "VERB", [CHASE])]),
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
    assert [text for text, _ in sentences] == ["a dog they dog him", "no dog", "one dog", "a dog"]
    assert [text[w[0] : w[1]] for text, words in sentences for w in words] == ["dog"] * 3
    assert [w[3] for _, words in sentences for w in words] == ["NOUN", "VERB", "NOUN"]
