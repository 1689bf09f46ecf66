"""Tokenised texts hold the words of each text, as cutting it alone gives them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names.fold import WordTokens
from kgraft.graph.names.tokenised import SEPARATOR, TokenisedTexts

TEXTS = st.lists(st.text(st.sampled_from("aB é.東 \u0301\n"), max_size=12), max_size=5)


@given(TEXTS)
def test_words_are_those_of_each_text(texts):
    tokenised = TokenisedTexts.of(texts)
    separator = SEPARATOR.strip()
    rows = [row for row, word in enumerate(tokenised.words.words) if word != separator]
    text = tokenised.text_of_word
    found = [
        (
            int(text[row]),
            int(tokenised.words.start[row] - tokenised.bounds[text[row]]),
            int(tokenised.words.end[row] - tokenised.bounds[text[row]]),
            tokenised.words.words[row],
        )
        for row in rows
    ]
    expected = []
    for number, content in enumerate(texts):
        words = WordTokens.of(content)
        columns = (words.start.tolist(), words.end.tolist(), words.words)
        expected += [(number, *each) for each in zip(*columns, strict=True)]
    assert found == expected
    counts = [len(WordTokens.of(content).words) for content in texts]
    assert tokenised.word_counts.tolist() == counts


def test_tokenised_texts_are_texts():
    texts = TokenisedTexts(["Paris in Texas", "", "Rome"])
    assert TokenisedTexts.of(texts) is texts
    assert (len(texts), texts[0]) == (3, "Paris in Texas")
    assert list(texts) == ["Paris in Texas", "", "Rome"]
    spans = (np.array([0, 2]), np.array([9, 0]), np.array([14, 2]))
    assert texts.surfaces(*spans) == ["Texas", "Ro"]
