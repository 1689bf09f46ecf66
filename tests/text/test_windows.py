import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput
from kgraft.graph import Mentions
from kgraft.text import Windows, length_batches, token_spans

KINDS = ["wordpiece", "bytes", "sentencepiece"]
any_text = st.text(st.characters(exclude_categories=()), max_size=40)
wordy = st.text("ab cdé\u0301 東😀\ud83d\n", max_size=60)
texts_of = st.lists(wordy | any_text, min_size=1, max_size=4)


def cut(tokeniser, texts, max_length=8, overlap=2):
    tokens = tokeniser(texts, offsets=True)
    return Windows.cut(tokens, tokeniser, max_length=max_length, overlap=overlap)


def own_tokens(tokenizer, text):
    """The (start, end) of each token, straight from the tokenizer."""
    scalars = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    found = tokenizer(scalars, add_special_tokens=False, return_offsets_mapping=True)
    return found["offset_mapping"]


def slow_locate(windows, spans, text_number, text, start, end):
    """Look at every token of every window: the obvious version."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    touched = [i for i, (a, b) in enumerate(spans) if a < end and b > start]
    if start == end or not touched:
        return -1, 0, 0
    base = int(windows.tokens.bounds[text_number])
    first, last = base + touched[0], base + touched[-1] + 1
    best, place = -1, (-1, 0, 0)
    for n in range(len(windows)):
        left, right = first - windows.first[n], windows.last[n] - last
        if windows.text[n] == text_number and min(left, right) > best:
            prefix = len(windows.prefix)
            best, place = min(left, right), (n, left + prefix, left + prefix + last - first)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(texts=texts_of, overlap=st.integers(0, 5), data=st.data())
def test_spans_are_found_as_by_looking_at_every_token(
    tokenizers, tokenisers, kind, texts, overlap, data
):
    windows = cut(tokenisers[kind], texts, overlap=overlap)
    numbers = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=6))
    ends = [data.draw(st.integers(0, len(texts[n]))) for n in numbers]
    starts = [data.draw(st.integers(0, end)) for end in ends]
    places = windows.locate(numbers, starts, ends)
    for i, (n, start, end) in enumerate(zip(numbers, starts, ends, strict=True)):
        spans = own_tokens(tokenizers[kind], texts[n])
        expected = slow_locate(windows, spans, n, texts[n], start, end)
        assert tuple(int(column[i]) for column in places) == expected


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(texts=texts_of)
def test_tokens_lead_back_to_their_characters(tokenizers, tokenisers, kind, texts):
    windows = cut(tokenisers[kind], texts)
    for n in range(len(windows)):
        text = texts[windows.text[n]]
        own = own_tokens(tokenizers[kind], text)
        begin = int(windows.first[n] - windows.tokens.bounds[windows.text[n]])
        for i, (a, b) in enumerate(own[begin : begin + 3]):
            column = len(windows.prefix) + i
            if column >= windows.lengths[n] - len(windows.suffix):
                break
            (start,), (end,) = windows.characters(n, column, column + 1)
            assert text[start:end] == text[a:b].strip()
            if text[a:b].strip():
                assert a <= start < end <= b


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(texts=texts_of, overlap=st.integers(0, 5))
def test_windows_cover_every_token_and_overlap(tokenisers, kind, texts, overlap):
    windows = cut(tokenisers[kind], texts, overlap=overlap)
    bounds = windows.tokens.bounds
    assert sorted(set(windows.text.tolist())) == list(range(len(texts)))
    assert windows.lengths.max() <= 8
    for n in range(len(texts)):
        first, last = windows.first[windows.text == n], windows.last[windows.text == n]
        assert (first[0], last[-1]) == (bounds[n], bounds[n + 1])
        assert (last[:-1] - first[1:] >= overlap).all()
        assert len(first) == 1 or (last - first == 8 - len(windows.prefix) * 2).all()


def test_exact_characters_in_any_script(tokenisers):
    names = ["Zu\u0308rich", "東京", "👩\u200d🚀", "Łódź", "naïve", "x\ud800y", "ﬁn"]
    text = "In " + " and ".join(names) + "."
    windows = cut(tokenisers["wordpiece"], [text], max_length=64)
    starts = [text.index(name) for name in names]
    ends = [start + len(name) for start, name in zip(starts, names, strict=True)]
    places = windows.locate(0, starts, ends)
    back = zip(*windows.characters(*places), strict=True)
    assert [text[start:end] for start, end in back] == names


def test_a_span_in_the_middle_of_a_word_takes_the_whole_tokens(tokenisers):
    windows = cut(tokenisers["wordpiece"], ["a cathedral stands"], max_length=16)
    places = windows.locate(0, 4, 6)
    (start,), (end,) = windows.characters(*places)
    assert "a cathedral stands"[start:end] == "cathedral"


@pytest.mark.parametrize("span", [(0, 0), (4, 4), (9, 9), (1, 4), (5, 7)])
def test_what_has_no_tokens_has_no_place(tokenisers, span):
    text = "a \n b\x00\u200b c"  # 1:4 is white space, 5:7 is dropped by the tokenizer
    windows = cut(tokenisers["wordpiece"], [text])
    places = windows.locate(0, *span)
    assert [column.tolist() for column in places] == [[-1], [0], [0]]
    assert [side.tolist() for side in windows.characters(*places)] == [[-1], [-1]]


def test_special_tokens_have_no_characters(tokenisers):
    windows = cut(tokenisers["wordpiece"], ["cat dog"])
    starts, ends = windows.characters(0, [0, 0, 3, 0], [1, 2, 4, 4])
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [
        (-1, -1),
        (0, 3),
        (-1, -1),
        (0, 7),
    ]


def test_the_window_with_most_context_is_chosen(tokenisers):
    text = " ".join("abcdefghijklmnop")  # 16 tokens; windows of 6 begin at 0, 4, 8 and 10
    windows = cut(tokenisers["wordpiece"], [text], max_length=8, overlap=2)
    assert windows.first.tolist() == [0, 4, 8, 10]
    places = windows.locate(0, 2 * np.arange(16), 2 * np.arange(16) + 1)
    assert places.window.tolist() == [0] * 5 + [1] * 4 + [2] * 3 + [3] * 4
    assert places.first.tolist() == [1, 2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 4, 3, 4, 5, 6]


def test_a_span_no_window_holds_has_no_place(tokenisers):
    text = " ".join("abcdefghij")
    assert cut(tokenisers["wordpiece"], [text]).locate(0, 0, len(text)).window.tolist() == [-1]


def test_padded_is_what_the_tokenizer_gives(tokenizers, tokenisers):
    texts = ["a cat", "", "the dog of Zürich", "x"]
    windows = cut(tokenisers["wordpiece"], texts, max_length=32, overlap=0)
    ids, mask = windows.padded(np.array([2, 0, 1]))
    theirs = tokenizers["wordpiece"]([texts[n] for n in (2, 0, 1)], padding=True)
    assert ids.tolist() == theirs["input_ids"]
    assert mask.astype(int).tolist() == theirs["attention_mask"]


@pytest.mark.parametrize("kind", KINDS)
def test_padded_batches_hold_every_window(tokenisers, kind):
    windows = cut(tokenisers[kind], ["the cat sat on the mat in Zürich", "", "a dog"], overlap=3)
    for numbers in length_batches(windows.lengths, 20):
        ids, mask = windows.padded(numbers)
        for row, n in enumerate(numbers):
            body = windows.tokens.ids[windows.first[n] : windows.last[n]].tolist()
            whole = [*windows.prefix.tolist(), *body, *windows.suffix.tolist()]
            assert ids[row][mask[row]].tolist() == whole
            assert set(ids[row][~mask[row]].tolist()) <= {windows.pad}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(texts=texts_of, overlap=st.integers(0, 5), data=st.data())
def test_a_value_of_each_token_stands_in_its_column(tokenisers, kind, texts, overlap, data):
    windows = cut(tokenisers[kind], texts, overlap=overlap)
    numbers = data.draw(st.lists(st.integers(0, len(windows) - 1), min_size=1, max_size=6))
    values = 100 + np.arange(len(windows.tokens.ids))
    spread = windows.spread(values, np.array(numbers), -7)
    assert spread.dtype == values.dtype
    assert spread.shape == (len(numbers), max(windows.lengths[n] for n in numbers))
    for row, n in zip(spread.tolist(), numbers, strict=True):
        expected = [-7] * len(row)
        for place, token in enumerate(range(windows.first[n], windows.last[n])):
            expected[len(windows.prefix) + place] = 100 + token
        assert row == expected


def test_values_keep_their_kind(tokenisers):
    windows = cut(tokenisers["wordpiece"], ["cat dog", ""])
    assert windows.spread(np.array([0.5, 2]), np.arange(2), -np.inf).tolist() == [
        [-np.inf, 0.5, 2, -np.inf],
        [-np.inf] * 4,
    ]
    assert windows.spread(np.array([True, True]), np.arange(1), False).tolist() == [
        [False, True, True, False]
    ]
    assert windows.spread(np.zeros(2), np.zeros(0, np.int64), 0).shape == (0, 0)


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(0, 25), min_size=1, max_size=4),
    max_length=st.integers(4, 12),
    overlap=st.integers(0, 9),
)
def test_a_span_is_at_home_in_the_one_window_where_it_is_located(
    tokenisers, lengths, max_length, overlap
):
    texts = [" ".join("a" * length) for length in lengths]  # token i is character 2 i
    windows = cut(tokenisers["wordpiece"], texts, max_length, min(overlap, max_length - 3))
    spans = [  # every span of every window, by its columns
        (n, first, last)
        for n, length in enumerate(windows.lengths)
        for first in range(1, length - 1)
        for last in range(first + 1, length)
    ]
    window, first, last = np.array(spans, np.int64).reshape(-1, 3).T
    at_home = windows.at_home(window, first, last)
    text, begin = windows.text[window], windows.first[window] - 1
    token = begin + first - windows.tokens.bounds[text]
    places = windows.locate(text, 2 * token, 2 * (token + last - first) - 1)
    assert (at_home == (places.window == window)).all()
    homes = {}
    for home, n, start, end in zip(at_home, text, begin + first, begin + last, strict=True):
        homes.setdefault((n, start, end), []).append(home)
    assert all(sum(several) == 1 for several in homes.values())


def test_a_span_with_a_special_token_is_at_home_nowhere(tokenisers):
    windows = cut(tokenisers["wordpiece"], ["a b c", "d"])
    window, first, last = np.array([[0, 0, 2], [0, 3, 5], [1, 0, 1], [1, 1, 1], [1, 1, 2]]).T
    assert windows.at_home(window, first, last).tolist() == [False] * 4 + [True]


def test_without_overlap_given_only_the_beginning_is_kept(tokenisers):
    texts = [" ".join("abcdefghij"), "k"]
    windows = cut(tokenisers["wordpiece"], texts, overlap=None)
    assert windows.lengths.tolist() == [8, 3]
    assert windows.locate([0, 0, 1], [0, 18, 0], [1, 19, 1]).window.tolist() == [0, -1, 1]


def test_no_texts(tokenisers):
    windows = cut(tokenisers["wordpiece"], [])
    assert len(windows) == 0
    assert windows.padded(np.array([], int))[0].shape == (0, 0)
    assert windows.locate([], [], []).window.tolist() == []


@pytest.mark.parametrize(
    ("text", "start", "end", "reason"),
    [
        (0, 0, 4, "span 0:4 does not fit text 0 of 3 characters"),
        (0, 2, 1, "span 2:1 does not fit"),
        (0, -1, 1, "span -1:1 does not fit"),
        (1, 0, 1, "not among the 1 given"),
    ],
)
def test_impossible_spans_are_refused(tokenisers, text, start, end, reason):
    with pytest.raises(BadInput, match=reason):
        cut(tokenisers["wordpiece"], ["abc"]).locate(text, start, end)


@pytest.mark.parametrize(("max_length", "overlap"), [(2, 0), (8, 6), (8, -1)])
def test_windows_without_room_are_refused(tokenisers, max_length, overlap):
    with pytest.raises(BadInput, match="leave no room"):
        cut(tokenisers["wordpiece"], ["abc"], max_length=max_length, overlap=overlap)


def test_windows_made_without_offsets_say_so(tokenisers):
    tokeniser = tokenisers["wordpiece"]
    windows = Windows.cut(tokeniser(["abc"]), tokeniser, max_length=8, overlap=0)
    with pytest.raises(BadInput, match="offsets=True"):
        windows.locate(0, 0, 1)


@given(texts=texts_of)
@settings(deadline=None, max_examples=at_most(30))
def test_the_first_window_of_each_text(tokenisers, texts):
    whole = cut(tokenisers["wordpiece"], texts, overlap=0)
    firsts = whole.firsts()
    assert firsts.text.tolist() == list(range(len(texts)))
    assert (firsts.first == whole.tokens.bounds[:-1]).all()


def slow_token_spans(mentions, windows, longest):
    """Lay one mention after the other onto its window: the obvious version."""
    found = []
    for row in range(len(mentions)):
        span = (mentions.text[row], mentions.start[row], mentions.end[row])
        window, first, last = (int(column[0]) for column in windows.locate(*span))
        if window >= 0 and (longest is None or last - first <= longest):
            found.append((window, first, last, row))
    return sorted(found)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(texts=texts_of, longest=st.none() | st.integers(1, 3), data=st.data())
def test_mentions_are_laid_onto_windows_as_one_by_one(tokenisers, kind, texts, longest, data):
    windows = cut(tokenisers[kind], texts)
    indices = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8))
    ends = [data.draw(st.integers(0, len(texts[n]))) for n in indices]
    starts = [data.draw(st.integers(0, end)) for end in ends]
    columns = (np.array(column, np.int64) for column in (indices, starts, ends))
    mentions = Mentions.without_candidates(*columns)
    spans, rows = token_spans(mentions, windows, longest=longest)
    expected = slow_token_spans(mentions, windows, longest)
    assert list(zip(*(c.tolist() for c in (*spans, rows)), strict=True)) == expected
    order = data.draw(st.permutations(range(len(windows))))
    batch = order[: data.draw(st.integers(0, len(order)))]
    position, span = spans.rows_in(np.array(batch, np.int64))
    in_batch = [
        (at, row)
        for at, window in enumerate(batch)
        for row, (other, *_) in enumerate(expected)
        if other == window
    ]
    assert list(zip(position.tolist(), span.tolist(), strict=True)) == in_batch
