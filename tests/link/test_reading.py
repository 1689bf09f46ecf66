"""Reading proposes the spans worth a look, each once, and reads those that are given."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import few, link_model

from kgraft.graph.names import Names
from kgraft.link.reading import (
    FEWEST,
    FLOOR,
    NAMED_FLOOR,
    SHARE,
    positions,
    read_given,
    read_spans,
    word_edges,
    word_spans,
)
from kgraft.text import Places

LONG = "We went from Paris to New York City and on to Zürich, said the man of Texas. " * 4
WORDS = ["Paris", "New", "York", "City", "rules", "Zürich", "unbelievably", "東京", "it's", "."]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def narrow(encoder_folder):
    """A model that reads no more than 16 tokens at once."""
    return link_model(encoder_folder, max_length=16, longest=4)


def prepared(model, graph, texts):
    return model.encoder.windows(texts), Names(graph).find(texts)


def all_at_words(windows, named, longest):
    """Return the spans of tokens that begin and end at words, as positions."""
    starts, ends = set(named.word_starts.tolist()), set(named.word_ends.tolist())
    text = np.repeat(np.arange(len(windows.tokens.bounds) - 1), np.diff(windows.tokens.bounds))
    shift = named.bounds[text] - windows.offsets.bounds[text]
    begin, stop = windows.offsets.starts + shift, windows.offsets.ends + shift
    return {
        (int(begin[i]), int(stop[j]))
        for i in range(len(text))
        for j in range(i, min(i + longest, len(text)))
        if text[i] == text[j] and int(begin[i]) in starts and int(stop[j]) in ends
    }


def spans_of(windows, named, spans):
    start, end = positions(windows, named, spans.places)
    return list(zip(start.tolist(), end.tolist(), strict=True))


def opened(monkeypatch):
    """Let no span be hopeless, and none be one too many."""
    monkeypatch.setattr("kgraft.link.reading.FLOOR", -1e9)
    monkeypatch.setattr("kgraft.link.reading.FEWEST", 10**6)


def test_each_span_is_proposed_once_although_windows_overlap(narrow, graph, monkeypatch):
    opened(monkeypatch)
    windows, named = prepared(narrow, graph, [LONG, "short", "", LONG[7:]])
    assert len(windows) > 12
    found = spans_of(windows, named, read_spans(narrow, windows, named))
    assert found == sorted(set(found))
    assert set(found) == all_at_words(windows, named, narrow.longest)


@given(texts=TEXTS)
@few
def test_spans_begin_and_end_at_words_in_the_window_that_is_their_home(narrow, graph, texts):
    windows, named = prepared(narrow, graph, texts)
    spans = read_spans(narrow, windows, named)
    found = spans_of(windows, named, spans)
    assert found == sorted(set(found))
    assert set(found) <= all_at_words(windows, named, narrow.longest)
    assert (spans.places.last - spans.places.first <= narrow.longest).all()
    start, end = positions(windows, named, spans.places)
    again = windows.locate(*named.characters(start, end))
    assert all(np.array_equal(*pair) for pair in zip(again, spans.places, strict=True))


@given(texts=TEXTS)
@few
def test_what_is_proposed_is_above_its_floor(narrow, graph, texts):
    windows, named = prepared(narrow, graph, texts)
    spans = read_spans(narrow, windows, named)
    row = named.rows(*positions(windows, named, spans.places))
    floor = torch.from_numpy(np.where(row >= 0, NAMED_FLOOR, FLOOR))
    assert (spans.logits > floor - 1e-4).all()
    counts = np.bincount(spans.places.window[row < 0], minlength=1)
    assert counts.max() <= max(FEWEST, SHARE * windows.lengths.max())


def test_a_name_is_proposed_where_other_spans_are_not(narrow, graph, monkeypatch):
    monkeypatch.setattr("kgraft.link.reading.FLOOR", 1e9)
    text = "We went from Paris to New York City."
    windows, named = prepared(narrow, graph, [text])
    found = spans_of(windows, named, read_spans(narrow, windows, named))
    assert [text[start:end] for start, end in found] == [
        "Paris", "New York", "New York City", "York",
    ]  # fmt: skip


def test_some_spans_are_proposed_in_any_case(narrow, graph, monkeypatch):
    """One that a window's share has no room for, one inside a word, and one that comes anyway."""
    monkeypatch.setattr("kgraft.link.reading.FLOOR", 1e9)
    windows, named = prepared(narrow, graph, [LONG])
    wanted = [(LONG.index("from"), LONG.index(" to")), (LONG.index("Pa"), LONG.index("Pa") + 5)]
    inside = LONG.index("rich,", 200)
    wanted.append((inside, inside + 4))
    always = windows.locate(*named.characters(*np.array(wanted).T))
    always = Places(*(column[np.argsort(always.window)] for column in always))
    found = spans_of(windows, named, read_spans(narrow, windows, named, always=always))
    kept = spans_of(windows, named, read_given(narrow, windows, always))
    assert set(kept) <= set(found)
    assert len(found) == len(set(found))


def test_what_is_read_does_not_depend_on_the_other_texts(narrow, graph):
    texts = [LONG, "Who rules Texas?", "", "Zürich"]
    windows, named = prepared(narrow, graph, texts)
    together = read_spans(narrow, windows, named)
    text = named.text_of(positions(windows, named, together.places)[0])
    for number, one in enumerate(texts):
        alone = read_spans(narrow, *prepared(narrow, graph, [one]))
        here = together.take(np.flatnonzero(text == number))
        assert here.places.first.tolist() == alone.places.first.tolist()
        torch.testing.assert_close(here.logits, alone.logits, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(here.vectors, alone.vectors, atol=1e-4, rtol=1e-4)


def naive_reading(model, windows, place):
    """Read one window alone and look at columns first to last."""
    window, first, last = place
    read = model.read(*windows.padded(np.array([window])))
    start, end, inside = read.marks[0].T
    logit = start[first] + end[last - 1] + inside[first:last].sum()
    return logit, read.vectors[0, first:last].mean(0)


@given(asked=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 30)), max_size=12))
@few
def test_given_spans_keep_their_order_and_are_read_by_the_formula(narrow, graph, asked):
    windows, named = prepared(narrow, graph, [LONG])
    start = np.array([begin for begin, _ in asked], np.int64)
    end = np.minimum(start + np.array([size for _, size in asked], np.int64), len(LONG))
    places = windows.locate(*named.characters(start, end))
    places = Places(*(column[places.window >= 0] for column in places))
    spans = read_given(narrow, windows, places)
    assert all(np.array_equal(*pair) for pair in zip(spans.places, places, strict=True))
    for row, place in enumerate(zip(*places, strict=True)):
        logit, vector = naive_reading(narrow, windows, place)
        torch.testing.assert_close(spans.logits[row], logit, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(spans.vectors[row], vector, atol=1e-4, rtol=1e-4)


def test_words_of_many_tokens_begin_and_end_once(model, graph):
    text = "unbelievably, Zürich's 東京"
    windows, named = prepared(model, graph, [text, "", "it's"])
    tokens = windows.tokens
    assert len(tokens.ids) > 12
    begins, ends = word_edges(windows, named)
    starts, stops = windows.offsets.starts, windows.offsets.ends
    whole = text + "it's"
    words = ["unbelievably", ",", "Zürich", "'", "s", "東", "京", "it", "'", "s"]
    assert [whole[a:b] for a, b in zip(starts[begins], stops[ends], strict=True)] == words


def test_word_spans_are_the_columns_between_edges(model, graph):
    windows, named = prepared(model, graph, ["unbelievably Paris", "Paris"])
    begins, ends = word_edges(windows, named)
    allowed = word_spans(windows, np.arange(2), begins, ends, 3)
    size = windows.lengths.max()
    assert allowed.shape == (2, size, 3)
    assert torch.nonzero(allowed[1]).tolist() == [[1, 0]]
    pieces = size - 3  # of the long word
    assert [size - 2, 0] in torch.nonzero(allowed[0]).tolist()
    assert bool(allowed[0, 1].any()) == (pieces <= 3)


@pytest.mark.parametrize("texts", [[""], [" "], ["", "\n"]])
def test_texts_that_say_nothing_have_no_spans(model, graph, texts):
    assert len(read_spans(model, *prepared(model, graph, texts))) == 0
