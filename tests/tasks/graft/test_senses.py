"""Annotated words get the sense that weighs most, among those of their lemma."""

from dataclasses import replace

import numpy as np
import pytest
from tests.graft.conftest import SETTINGS
from tests.graft.senses import CHASE, DOG, knowledge_of, tiny_wordnet

from kgraft.graft import (
    GraftedEncoder,
    GraftSettings,
    SenseTexts,
    locate_senses,
    look_up_senses,
    train_graft,
)
from kgraft.graft.senses import SenseSentence, SenseWord
from kgraft.tasks.graft.senses import choose_senses, first_senses, sense_counts
from kgraft.text import Encoder


@pytest.fixture(scope="module")
def senses(tmp_path_factory):
    return knowledge_of(tiny_wordnet(tmp_path_factory.mktemp("wordnet")))


def sentence(text, start, pos, key):
    return SenseSentence(text, [SenseWord(start, start + 3, "dog", pos, [key])])


def test_a_word_without_senses_counts_as_wrong(senses):
    sentences = [sentence("dog", 0, pos, DOG) for pos in ("ADV", "NOUN")]
    data = look_up_senses(senses, sentences)
    assert sense_counts(data, first_senses(data)).tolist() == [[0, 1], [1, 1]]


@pytest.mark.slow
def test_choosing_after_training(senses, host_folder, tmp_path):
    """Both senses are offered under one lemma; the words around tell them apart."""
    host = Encoder.load(host_folder, device="cpu", max_length=32)
    encoder = GraftedEncoder(host, {2: senses}, settings={2: SETTINGS})
    both = np.array(senses.graph.indices_of(["00000100-n", "00000300-v"]))
    sentences = [
        sentence("it barks like a dog", 16, "NOUN", DOG),
        sentence("they will dog him", 10, "VERB", CHASE),
    ]
    data = look_up_senses(senses, sentences)
    kinds = np.tile(data.mentions.match[:1], 4)
    mentions = replace(
        data.mentions,
        bounds=np.array([0, 2, 4]),
        entity=np.tile(both, 2),
        prior=np.full(4, 0.5, np.float32),
        match=kinds,
        forms=np.zeros(4, np.uint8),
        score=np.zeros(4, np.float32),
    )
    data = SenseTexts(data.texts, mentions, data.gold)
    texts = locate_senses(encoder, 2, data)
    settings = GraftSettings(linker_epochs=40, epochs=0, linker_rate=1e-2, patience=99)
    list(train_graft(encoder, texts, tmp_path / "graft", valid=texts, settings=settings))
    assert choose_senses(encoder, 2, data).tolist() == both.tolist()
