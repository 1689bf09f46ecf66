"""Annotated words come with the senses of their lemma and part of speech."""

import json

import numpy as np
import pytest
from tests.graft.conftest import SETTINGS
from tests.graft.senses import CHASE, DOG, knowledge_of, tiny_wordnet

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, look_up_senses, sense_sentences
from kgraft.graft.senses import (
    SenseSentence,
    SenseWord,
    example_sentences,
    has_senses,
    locate_open_senses,
)
from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.text import Encoder


@pytest.fixture(scope="module")
def senses(tmp_path_factory):
    return knowledge_of(tiny_wordnet(tmp_path_factory.mktemp("wordnet")))


def word(start, end, pos, *keys):
    return {"start": start, "end": end, "lemma": "dog", "pos": pos, "entities": list(keys)}


def write(folder, *lines):
    path = folder / "words.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_reading(senses, tmp_path):
    path = write(
        tmp_path,
        {"text": "a dog", "mentions": [word(2, 5, "NOUN", DOG, "gone%1")]},
        {"text": "so", "mentions": []},
    )
    assert has_senses(path)
    data = look_up_senses(senses, sense_sentences(path))
    (dog,) = senses.graph.indices_of(["00000100-n"]).tolist()
    assert data.gold == [frozenset([dog])]
    assert data.first_gold.tolist() == [dog]
    assert data.mentions.entity.tolist() == [dog]


def test_a_word_without_senses_has_no_candidates(senses):
    sentences = [
        SenseSentence("dog", [SenseWord(0, 3, "dog", pos, [DOG])]) for pos in ("ADV", "NOUN")
    ]
    assert look_up_senses(senses, sentences).mentions.sizes.tolist() == [0, 1]


@pytest.mark.parametrize("line", ['{"text": "a dog", "mentions": [{}]}', "[1]", '{"mentions": []}'])
def test_a_bad_line(tmp_path, line):
    path = tmp_path / "words.jsonl"
    path.write_text(line)
    with pytest.raises(BadInput, match=r"words.jsonl:1: "):
        list(sense_sentences(path))


def test_the_examples_of_glosses(senses):
    [(text, [found], _)] = list(example_sentences(senses.graph))
    assert text == "the dog / barked"
    assert text[found.start : found.end] == "dog"
    assert (found.lemma, found.pos, found.sense_keys) == ("dog", "NOUN", [DOG])


def test_words_of_an_open_vocabulary(senses, host_folder):
    """A word may then mean the senses of all parts of speech; annotated ones have gold."""
    host = Encoder.load(host_folder, device="cpu", max_length=32)
    encoder = GraftedEncoder(host, {2: senses}, settings={2: SETTINGS})
    sentences = [
        SenseSentence("it barks like a dog", [SenseWord(16, 19, "dog", "NOUN", [DOG])]),
        SenseSentence("they dog him, the dog", [SenseWord(5, 8, "dog", "VERB", [CHASE])]),
    ]
    windows = locate_open_senses(encoder, 2, look_up_senses(senses, sentences))
    batch = windows.mentions(np.array([0, 1]))[2]
    noun, verb = senses.graph.indices_of(["00000100-n", "00000300-v"]).tolist()
    gold = [
        [candidates[rank] if rank >= 0 else None for candidates, rank in zip(*row, strict=True)]
        for row in zip(batch.entity.tolist(), batch.gold_rank.tolist(), strict=True)
    ]
    assert gold == [[noun, None], [verb, None]]  # the second of the first text is padding
    assert all({noun, verb} <= set(candidates) for candidates in batch.entity[1].tolist())


def test_sentences_of_a_document_are_read_together(tmp_path):
    path = write(
        tmp_path,
        {"id": "d1.s1", "text": "a dog", "mentions": [word(2, 5, "NOUN", DOG)]},
        {"id": "d1.s2", "text": "they dog him", "mentions": [word(5, 8, "VERB", CHASE)]},
        {"id": "d2.s1", "text": "no dog", "mentions": [word(3, 6, "NOUN", DOG)]},
        {"id": "7", "text": "one dog", "mentions": []},
        {"id": "8", "text": "a dog", "mentions": []},
    )
    sentences = list(sense_sentences(path))
    assert [s.text for s in sentences] == ["a dog they dog him", "no dog", "one dog", "a dog"]
    assert [s.text[w.start : w.end] for s in sentences for w in s.words] == ["dog"] * 3
    assert [w.pos for s in sentences for w in s.words] == ["NOUN", "VERB", "NOUN"]
    assert [s.document for s in sentences] == ["d1", "d2", "#3", "#4"]


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
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


def test_counts_of_a_document_do_not_count_for_its_own_words(bank):
    def sentence(document, *keys):
        words = [SenseWord(5 * n, 5 * n + 4, "bank", "NOUN", [key]) for n, key in enumerate(keys)]
        return SenseSentence("bank " * len(keys), words, document)

    sentences = [sentence("a", "bank%1", "bank%2"), sentence("b", "bank%1"), sentence("", "bank%1")]
    own, plain = (
        look_up_senses(bank, sentences, counted=counted).mentions.prior.reshape(-1, 2)
        for counted in (sentences, ())
    )
    counts = [(3 - 1, 1 - 1), (3 - 1, 1 - 1), (3 - 1, 1), (3, 1)]
    expected = [np.array([a + 2, b + 1.5]) / (a + b + 3.5) for a, b in counts]  # 1 + 1/n more
    np.testing.assert_allclose(own, expected, rtol=1e-6)
    np.testing.assert_allclose(plain, [[5 / 7.5, 2.5 / 7.5]] * 4)
