"""Reading looks at the spans it is given, and proposes others that are worth a search."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import reading

from kgraft.graph.names.fold import WordTokens
from kgraft.link.linking import word_edges
from kgraft.link.reading import FEWEST, FLOOR, SHARE, SpanVectors, read_spans, word_spans
from kgraft.text import TokenSpans

LONG = "We went from Paris to New York City and on to Zürich, said the man of Texas. " * 4
WORDS = ["Paris", "New", "York", "City", "rules", "Zürich", "unbelievably", "東京", "it's", "."]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join), min_size=1, max_size=4
)
NONE = TokenSpans(*np.zeros((3, 0), np.int64))


def read(model, texts, places=NONE, *, propose=True):
    windows = model.encoder.windows(texts)
    edges = word_edges(windows, texts) if propose else None
    return windows, *read_spans(model, windows, places, edges)


def characters(windows, spans):
    """Return (text, start, end) of spans."""
    text = windows.text[spans.places.window]
    start, end = windows.characters(*spans.places)
    return list(zip(text.tolist(), start.tolist(), end.tolist(), strict=True))


def all_at_words(model, texts):
    """Return all spans of at most `longest` tokens that begin and end at words."""
    spans = set()
    for number, text in enumerate(texts):
        windows, words = model.encoder.windows([text]), WordTokens.of(text)
        begins, stops = windows.offsets.starts.tolist(), windows.offsets.ends.tolist()
        for i, begin in enumerate(begins):
            for stop in stops[i : i + model.longest]:
                if begin in words.start and stop in words.end:
                    spans.add((number, begin, stop))
    return spans


def test_each_span_is_proposed_once_although_windows_overlap(narrow, monkeypatch):
    monkeypatch.setattr("kgraft.link.reading.FLOOR", -1e9)
    monkeypatch.setattr("kgraft.link.reading.FEWEST", 10**6)
    texts = [LONG, "short", "", LONG[7:]]
    windows, _, proposed = read(narrow, texts)
    assert len(windows) > 12
    spans = characters(windows, proposed)
    assert len(spans) == len(set(spans))
    assert set(spans) == all_at_words(narrow, texts)


@given(texts=TEXTS)
@reading
def test_proposed_spans_are_likely_and_in_proportion_to_the_text(narrow, texts):
    windows, _, proposed = read(narrow, texts)
    assert set(characters(windows, proposed)) <= all_at_words(narrow, texts)
    assert (proposed.places.last - proposed.places.first <= narrow.longest).all()
    assert (proposed.logits > FLOOR - 1e-4).all()
    counts = np.bincount(proposed.places.window, minlength=len(windows))
    assert (counts <= np.maximum(FEWEST, SHARE * windows.lengths)).all()


def test_without_edges_nothing_is_proposed(narrow):
    _, spans, proposed = read(narrow, [LONG], propose=False)
    assert len(spans) == len(proposed) == 0
    assert proposed.vectors.shape == (0, narrow.encoder.dimension)


def naive_reading(model, windows, place):
    """Read one window alone and look at columns first to last."""
    window, first, last = place
    output = model.read(*windows.padded(np.array([window])))
    start, end, inside = output.marks[0].T
    logit = start[first] + end[last - 1] + inside[first:last].sum()
    return logit, output.vectors[0, first:last].mean(0)


@given(asked=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 30)), max_size=12))
@reading
def test_given_spans_keep_their_order_and_are_read_by_the_formula(narrow, asked):
    windows = narrow.encoder.windows([LONG])
    start = np.array([begin for begin, _ in asked], np.int64)
    end = np.minimum(start + np.array([size for _, size in asked], np.int64), len(LONG))
    places = windows.locate(0, start, end)
    places = places.select(places.window >= 0)
    spans, _ = read_spans(narrow, windows, places)
    assert all(np.array_equal(*pair) for pair in zip(spans.places, places, strict=True))
    for row, place in enumerate(zip(*places, strict=True)):
        logit, vector = naive_reading(narrow, windows, place)
        torch.testing.assert_close(spans.logits[row], logit, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(spans.vectors[row], vector, atol=1e-4, rtol=1e-4)


def test_what_is_read_does_not_depend_on_the_other_texts(narrow):
    texts = [LONG, "Who rules Texas?", "", "Zürich"]
    windows, _, together = read(narrow, texts)
    by_span = dict(zip(characters(windows, together), range(len(together)), strict=True))
    for number, text in enumerate(texts):
        alone, _, spans = read(narrow, [text])
        for row, (_, start, end) in enumerate(characters(alone, spans)):
            other = by_span[number, start, end]
            torch.testing.assert_close(
                spans.vectors[row], together.vectors[other], atol=1e-4, rtol=1e-4
            )


@pytest.mark.parametrize("texts", [[""], [" "], ["", "\n"]])
def test_texts_that_say_nothing_have_no_spans(model, texts):
    assert len(read(model, texts)[2]) == 0


def test_word_spans_are_the_columns_between_edges(model):
    texts = ["unbelievably Paris", "Paris"]
    windows = model.encoder.windows(texts)
    allowed = word_spans(windows, np.arange(2), *word_edges(windows, texts), 3)
    size = windows.lengths.max()
    assert allowed.shape == (2, size, 3)
    assert torch.nonzero(allowed[1]).tolist() == [[1, 0]]
    pieces = size - 3  # of the long word
    assert [size - 2, 0] in torch.nonzero(allowed[0]).tolist()
    assert bool(allowed[0, 1].any()) == (pieces <= 3)


@given(st.lists(st.integers(0, 5), max_size=12), st.permutations(range(6)))
@reading
def test_spans_of_a_batch_are_those_in_its_windows(window, order):
    window, batch = np.sort(np.array(window, np.int64)), np.array(order[:4])
    row, span = TokenSpans(window, window, window).rows_in(batch)
    pairs = [(r, s) for r, w in enumerate(batch) for s, own in enumerate(window) if own == w]
    assert list(zip(row.tolist(), span.tolist(), strict=True)) == pairs


def test_spans_are_taken_and_joined(narrow):
    windows = narrow.encoder.windows([LONG])
    places = windows.locate(0, np.array([0, 13, 22]), np.array([2, 18, 30]))
    spans, _ = read_spans(narrow, windows, places)
    parts = [spans.take(np.array(rows)) for rows in ([2], [0, 1])]
    joined = SpanVectors.concat(parts)
    assert torch.equal(joined.vectors, spans.vectors[[2, 0, 1]])
    assert joined.places.first.tolist() == spans.places.first[[2, 0, 1]].tolist()
    assert len(joined) == 3
