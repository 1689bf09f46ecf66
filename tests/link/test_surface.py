"""Surfaces of mentions: letters, words and surroundings, as a look at each one alone has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick
from tests.link.tiny import mentions_of

from kgraft.graph import Match
from kgraft.graph.names import ordinary_frequency
from kgraft.graph.names.fold import WordTokens
from kgraft.link.surface import Surface, letter_cases

WORDS = [
    "Paris",
    "new",
    "YORK",
    "City",
    "the",
    "of",
    "東京",
    "Zürich",
    "e",
    "it's",
    ".",
    "?",
    "NASA",
]
TEXTS = st.lists(
    st.lists(st.sampled_from([*WORDS, "  ", "\u00ad"]), max_size=9).map(" ".join)
    | st.sampled_from(["who rules Texas", "IN THE NEWS TODAY", "Is it", "", " "]),
    min_size=1,
    max_size=3,
)
SENTENCE_ENDS = set(".!?:•\"'-|")
QUESTION_WORDS = [
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how",
    "is", "are", "was", "were", "do", "does", "did", "can", "name",
]  # fmt: skip


@st.composite
def texts_and_spans(draw):
    """Texts, and rows of mentions that touch at least one word."""
    texts = draw(TEXTS)
    spans = set()
    for text, content in enumerate(texts):
        tokens = WordTokens.of(content)
        for _ in range(draw(st.integers(0, 4)) if len(tokens.start) else 0):
            first = draw(st.integers(0, len(tokens.start) - 1))
            last = draw(st.integers(first, min(first + 3, len(tokens.start) - 1)))
            start = max(int(tokens.start[first]) - draw(st.integers(0, 1)), 0)
            end = min(int(tokens.end[last]) + draw(st.integers(0, 1)), len(content))
            spans.add((text, start, end))
    candidates = st.sampled_from([[], [(0, Match.NAME, 0.5)], [(0, Match.VARIANT, 0.5)]])
    return texts, [(*span, draw(candidates)) for span in sorted(spans)]


def touched(tokens, start, end):
    """Return which tokens a span touches."""
    edges = zip(tokens.start.tolist(), tokens.end.tolist(), strict=True)
    return [row for row, (begin, stop) in enumerate(edges) if stop > start and begin < end]


def neighbour_frequency(token, gap):
    """Return the frequency of a word one space away, and 7 where there is none."""
    if token is None or gap != 1 or not token[2][:1].isalnum():
        return 7.0
    return ordinary_frequency([token[2]])[0]


def naive_surface(texts, spans, names, span):
    """Look at one mention with plain loops, in its own text only."""
    index, start, end = span
    text = texts[index]
    tokens = WordTokens.of(text)
    every = list(zip(tokens.start.tolist(), tokens.end.tolist(), tokens.words, strict=True))
    inside = touched(tokens, start, end)
    covered = {row for t, a, b in names if t == index for row in touched(tokens, a, b)}
    before = every[inside[0] - 1] if inside[0] > 0 else None
    after = every[inside[-1] + 1] if inside[-1] + 1 < len(every) else None
    cases = [sum(map(case, text)) for case in (str.isupper, str.islower)]
    capitals, smalls = (sum(map(case, text[start:end])) for case in (str.isupper, str.islower))
    upper_text = cases[1] < 0.2 * cases[0] and cases[0] > 3
    cased = not upper_text and cases[0] > 0 and cases[1] > 0
    words = [every[row][2] for row in inside if any(map(str.isalnum, every[row][2]))]
    frequencies = ordinary_frequency(words).tolist()
    same = [texts[t][a:b].casefold() for t, a, b in spans if t == index]
    asks = text[:12].casefold().split(" ")[0].split("'")[0] in QUESTION_WORDS
    return {
        "words": len(inside),
        "lower": capitals == 0 and smalls > 0,
        "upper": capitals > 1 and smalls == 0,
        "capital": text[start].isupper() and smalls > 0,
        "cased_text": cased,
        "upper_text": upper_text,
        "at_sentence_start": before is None or before[2] in SENTENCE_ENDS,
        "rarest": min(frequencies, default=0),
        "commonest": max(frequencies, default=0),
        "after_capital": cased
        and before is not None
        and start - before[1] == 1
        and text[before[0]].isupper(),
        "before_capital": cased
        and after is not None
        and after[0] - end == 1
        and text[after[0]].isupper(),
        "word_before": neighbour_frequency(before, before and start - before[1]),
        "word_after": neighbour_frequency(after, after and after[0] - end),
        "in_question": (text.rstrip().endswith("?") or asks) and len(every) <= 30,
        "text_words": len(every),
        "covered_text": len(covered) / len(every),
        "repeated": same.count(text[start:end].casefold()),
    }


@pytest.mark.slow
@given(texts_and_spans())
@quick
def test_surfaces_are_those_of_a_look_at_each_mention_alone(given_rows):
    texts, rows = given_rows
    if not rows:
        return
    surface = Surface.of(texts, mentions_of(rows))
    spans = [row[:3] for row in rows]
    names = [row[:3] for row in rows if row[3] and row[3][0][1] <= Match.NAME]
    for row, span in enumerate(spans):
        naive = naive_surface(texts, spans, names, span)
        seen = {name: getattr(surface, name)[row] for name in naive}
        assert seen == pytest.approx(naive), (texts, span)


def test_the_rarest_word_is_the_least_ordinary_one():
    surface = Surface.of(["the xylophonist of Paris"], mentions_of([(0, 0, 24, [])]))
    assert surface.rarest_word == ["xylophonist"]
    assert surface.rarest[0] < 2 < 6 < surface.commonest[0]


def test_neighbouring_words_are_of_the_same_text():
    texts = ["We saw Paris", "Texas is big", "It is in Texas", "France is old"]
    mentions = mentions_of([(1, 0, 5, []), (2, 9, 14, [])])
    surface = Surface.of(texts, mentions)
    assert not surface.after_capital[0]
    assert not surface.before_capital[1]


def test_a_rare_word_beside_a_mention_may_belong_to_it():
    text = "the muscular injury, of a nerve"
    surface = Surface.of([text], mentions_of([(0, 13, 19, []), (0, 26, 31, [])]))
    assert surface.word_before[0] < 4.5 < 6 < surface.word_before[1] < 7.5
    assert surface.word_after.tolist() == [7, 7]


def test_capitals_and_small_letters_of_all_scripts():
    text = "aA1ßÄ東Ω.ж"
    upper, lower = letter_cases(text)
    assert upper.tolist() == [c.isupper() for c in text]
    assert lower.tolist() == [c.islower() for c in text]
