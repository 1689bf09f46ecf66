"""Mentions are put where they stand, with all their candidates, batch by batch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kgraft.text.default import packaged_folder
from tests.graft.tiny import few

from kgraft.graft import Noticed
from kgraft.text import Encoder
from kgraft.text.mention_batch import NIL, PADDING, UNKNOWN

WORDS = ["Paris", "New", "York", "City", "in", "Texas", "東京", "😀", "La", "France", "the", "."]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=5)
ENCODER = Encoder.load(packaged_folder(), device="cpu", max_length=8)


@given(texts=TEXTS, longest=st.sampled_from([1, 2, 9]), candidates=st.integers(1, 3))
@few
def test_a_batch_holds_every_name_of_its_windows_once(knowledge, texts, longest, candidates):
    named = knowledge.find(texts)
    windows = ENCODER.windows(texts)
    gold = named.entity[named.candidates[:-1]]  # the likeliest is meant
    noticed = Noticed.of(windows, named, gold=gold, candidates=candidates, longest=longest)
    numbers = np.arange(len(windows))[::-1]
    batch = noticed.batch(numbers)
    found = []
    for row, number in enumerate(numbers.tolist()):
        for m in np.flatnonzero(batch.present[row].numpy()).tolist():
            first, last = int(batch.first[row, m]), int(batch.last[row, m])
            (start,), (end,) = windows.characters([number], [first], [last])
            entities = batch.entity[row, m]
            held = entities[entities != PADDING].tolist()
            found.append((int(windows.text[number]), int(start), int(end), held))
            assert batch.gold[row, m] == 0
            assert len(held) <= candidates
            assert last - first <= longest
    text, start, end = named.characters(named.start, named.end)
    places = windows.locate(text, start, end)
    expected = [
        (t, a, b, named.entity[named.candidates[n] : named.candidates[n + 1]][:candidates].tolist())
        for n, (t, a, b) in enumerate(zip(text.tolist(), start.tolist(), end.tolist(), strict=True))
        if places.window[n] >= 0 and places.last[n] - places.first[n] <= longest
    ]
    assert sorted(found) == sorted(expected)


def test_what_is_meant_is_found_among_the_candidates(knowledge, graph):
    texts = ["Paris is in Texas", "Paris", "Berlin"]
    named = knowledge.find(texts)
    texan, berlin = graph.numbers_of(["tx-paris", "berlin"])
    gold = np.array([texan, UNKNOWN, NIL, texan])
    batch = Noticed.of(ENCODER.windows(texts), named, gold=gold).batch(np.arange(3))
    place = int(batch.gold[0, 0])
    assert batch.entity[0, 0, place] == texan
    assert batch.gold[0, 1] == UNKNOWN
    assert batch.gold[1, 0] == NIL
    assert batch.gold[2, 0] == UNKNOWN  # the one in Texas is no candidate for Berlin
    assert batch.entity[2, 0, 0] == berlin


def test_texts_without_mentions(knowledge):
    batch = Noticed.of(ENCODER.windows(["so", ""]), knowledge.find(["so", ""])).batch(np.arange(2))
    assert batch.present.shape == (2, 0)
    assert not batch.present.any()
