"""Ordinary words: how often a word is used in small letters in general text.

A name that is also an ordinary word ("may", "disease") needs more evidence than one that is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kgraft.graph.names.fold import fold_name

TABLE = Path(__file__).parents[2] / "data" / "words.tsv"
ENGLISH = "en"
FUNCTION_WORD = 5.8  # Zipf frequency from which on an English word tells the language
UNSEEN = 1.5  # Zipf frequency of a word that the table does not list


@cache
def _table() -> tuple[dict[str, float], dict[str, str]]:
    """Read the table: frequency and language of each folded word."""
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
    return {row[0]: int(row[1]) / 10 for row in rows}, {row[0]: row[2] for row in rows}


def ordinary_frequency(words: Sequence[str]) -> np.ndarray:
    """Return the Zipf frequency of folded words in small letters, (N,) float32.

    It is the logarithm of occurrences per billion words: 3 is once in a million.

    >>> ordinary_frequency(["disease", "texas", "xylophonist"]).round(1).tolist()
    [4.900000095367432, 1.5, 1.5]
    """
    frequencies, _ = _table()
    return np.fromiter((frequencies.get(w, UNSEEN) for w in words), np.float32, len(words))


@cache
def english_words() -> tuple[list[str], np.ndarray]:
    """Return the English words of the table and their Zipf frequencies."""
    frequencies, languages = _table()
    words = [word for word, language in languages.items() if language == ENGLISH]
    return words, np.array([frequencies[word] for word in words])


def word_languages(words: Sequence[str]) -> tuple[int, int]:
    """Return how many words are frequent English ones, and how many are of other languages.

    >>> word_languages(["She", "flew", "nach", "Paris"])
    (1, 1)
    """
    frequencies, languages = _table()
    folded = [word.lower() if word.isascii() else fold_name(word) for word in words]
    listed = [word for word in folded if word in languages]
    english = sum(languages[w] == ENGLISH and frequencies[w] >= FUNCTION_WORD for w in listed)
    return english, sum(languages[word] != ENGLISH for word in listed)
