"""Ordinary words have their frequency, and tell the language of a text."""

import numpy as np
import pytest

from kgraft.graph.names import words
from kgraft.graph.names.fold import fold_name
from kgraft.graph.names.words import (
    FUNCTION_WORD,
    TABLE,
    UNSEEN,
    english_words,
    ordinary_frequency,
    word_languages,
)


@pytest.fixture(scope="module")
def rows():
    header, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert header == "word\tzipf10\tlanguage"
    return [line.split("\t") for line in lines]


@pytest.mark.slow
def test_the_table_lists_folded_words_once_in_order(rows):
    listed = [word for word, _, _ in rows]
    assert listed == sorted(set(listed))
    assert [word for word in listed if fold_name(word) != word] == []
    assert min(int(zipf) for _, zipf, _ in rows) > 10 * UNSEEN


@pytest.mark.parametrize(
    ("word", "least", "most"),
    [
        ("the", 7, 8),
        ("a", 7, 8),  # not "à"
        ("rose", 4, 5),  # not "rosé"
        ("disease", 4, 5.5),
        ("texas", UNSEEN, UNSEEN),  # hardly ever in small letters
        ("xylophonist", UNSEEN, UNSEEN),
        ("", UNSEEN, UNSEEN),
        ("breast cancer", UNSEEN, UNSEEN),
        ("\ud800", UNSEEN, UNSEEN),
    ],
)
def test_frequencies_are_those_of_the_usual_spelling(word, least, most):
    [frequency] = ordinary_frequency([word])
    assert least <= frequency <= most


def test_frequencies_are_one_per_word(rows):
    listed = [word for word, _, _ in rows]
    frequency = ordinary_frequency([*listed, "no such word"])
    assert frequency.dtype == np.float32
    assert frequency[:-1] == pytest.approx([int(zipf) / 10 for _, zipf, _ in rows])
    assert frequency[-1] == np.float32(UNSEEN)
    assert ordinary_frequency([]).shape == (0,)


def test_english_words_come_with_their_frequencies(rows):
    words, frequency = english_words()
    assert words == [word for word, _, code in rows if code == "en"]
    assert frequency == pytest.approx(ordinary_frequency(words))


@pytest.mark.slow
def test_languages_are_counted_by_frequent_words_only(rows):
    english = {w for w, zipf, code in rows if code == "en" and int(zipf) / 10 >= FUNCTION_WORD}
    others = {w for w, _, code in rows if code != "en"}
    sample = [word for word, _, _ in rows[::7]] + ["The", "NACH", "Ärzte", "", "東京"]
    folded = [fold_name(word) for word in sample]
    expected = sum(w in english for w in folded), sum(w in others for w in folded)
    assert word_languages(sample) == expected
    assert all(expected)


@pytest.mark.parametrize(
    ("text", "is_english"),
    [
        ("The patient was seen by a doctor in the morning", True),
        ("Der Patient wurde nach dem Essen nicht mehr gesehen", False),
        ("Le patient est dans une chambre avec les autres", False),
    ],
)
def test_a_text_has_more_words_of_its_own_language(text, is_english):
    english, other = word_languages(text.split())
    assert (english > other) == is_english


def test_the_table_is_read_once():
    words._table.cache_clear()
    ordinary_frequency(["a"])
    word_languages(["a"])
    assert words._table.cache_info().misses == 1
