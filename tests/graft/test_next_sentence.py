"""Texts of a document are joined two by two, and whether they belong together is learned."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts

from kgraft.graft.next_sentence import NEXT, OTHER, NextSentenceHead, pair_texts, split_pairs
from kgraft.graph import UNKNOWN

DOCUMENTS = st.lists(st.sampled_from("aab"), max_size=40).map(sorted)


def texts_of(documents):
    """Texts that are their own numbers, each with a mark on all of it."""
    texts = [f"t{number}" for number in range(len(documents))]
    number = np.arange(len(texts))
    end = np.array([len(text) for text in texts], np.int64)
    return annotated_texts(texts, number, np.zeros_like(number), end, number)


@given(DOCUMENTS, st.integers(0, 5))
def test_every_text_is_there_once_and_labels_are_true(documents, seed):
    data = texts_of(documents)
    pairs = pair_texts(data, documents, seed=seed)
    halves = [text.split() for text in pairs.data.texts]
    assert sorted(half for pair in halves for half in pair) == sorted(data.texts)
    for pair, follows in zip(halves, pairs.follows, strict=True):
        numbers = [int(half[1:]) for half in pair]
        if len(pair) == 1:
            assert follows == UNKNOWN
        else:
            true = numbers[1] == numbers[0] + 1 and len({documents[n] for n in numbers}) == 1
            assert follows == (NEXT if true else OTHER)


@given(DOCUMENTS, st.integers(0, 5))
def test_mentions_move_with_their_texts(documents, seed):
    data = texts_of(documents)
    pairs = pair_texts(data, documents, seed=seed).data
    assert sorted(pairs.gold.tolist()) == list(range(len(data)))
    spans = pairs.mentions.text, pairs.mentions.start, pairs.mentions.end
    for text, start, end, entity in zip(*spans, pairs.gold, strict=True):
        assert pairs.texts[text][start:end] == data.texts[entity]
    assert (np.diff(pairs.mentions.text) >= 0).all()


def test_about_half_are_swapped():
    pairs = pair_texts(texts_of(["d"] * 4000), ["d"] * 4000)
    assert abs((pairs.follows == OTHER).mean() - 0.5) < 0.05


def test_the_loss_by_hand():
    head = NextSentenceHead(2)
    with torch.no_grad():
        head.dense.weight.copy_(torch.eye(2))
        head.dense.bias.zero_()
        head.out.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        head.out.bias.zero_()
    hidden = torch.tensor([[[0.5, -0.5], [9, 9]], [[7, 7], [7, 7]]])
    a, b = math.tanh(0.5), math.tanh(-0.5)
    expected = -(b - math.log(math.exp(a) + math.exp(b)))
    found = head.loss(hidden, torch.tensor([NEXT, UNKNOWN]))
    assert found.item() == torch.tensor(expected).item()
    assert head.loss(hidden, torch.tensor([UNKNOWN, UNKNOWN])) == 0


@given(DOCUMENTS, st.integers(0, 5))
def test_documents_are_set_apart_whole(documents, seed):
    parts = split_pairs(texts_of(documents), documents, seed=seed)
    seen = [{documents[n] for n in part.data.gold.tolist()} for part in parts]
    assert sum(len(part.data.gold) for part in parts) == len(documents)
    if len(set(documents)) > 1:
        assert not seen[0] & seen[1]
        assert seen[1]


def test_of_a_single_document_the_last_tenth_is_set_apart():
    one, other = split_pairs(texts_of(["d"] * 20), ["d"] * 20)
    assert sorted(other.data.gold.tolist()) == [18, 19]
    assert len(one) == 9
