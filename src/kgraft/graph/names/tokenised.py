"""Texts that are cut into folded words once, for all that looks at their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from kgraft.graph.names.fold import WordTokens

SEPARATOR = "\uffff\n"  # between texts: a word that stands in no name, and ends whatever is open


class TokenisedTexts(Sequence[str]):
    """Texts with their words; it can be passed wherever texts can.

    The texts are joined to one, with a separator between two, so that words of all texts lie in
    one row. The separators are words too.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = list(texts)
        self.joined = SEPARATOR.join(self._texts)
        sizes = [len(text) + len(SEPARATOR) for text in self._texts]
        self.bounds = np.cumsum([0, *sizes])  # (N + 1,) where the next text would begin
        self.words = WordTokens.of(self.joined)

    @classmethod
    def of(cls, texts: Sequence[str]) -> TokenisedTexts:
        """Return texts with their words; those that have them already are returned as they are."""
        return texts if isinstance(texts, cls) else cls(texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        return self._texts[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    @cached_property
    def text_of_word(self) -> np.ndarray:
        """The number of the text that each word is in, (W,); a separator is in the one before."""
        if len(self) == 1:
            return np.zeros(len(self.words.start), np.int64)
        return np.searchsorted(self.bounds, self.words.start, side="right") - 1

    @cached_property
    def word_counts(self) -> np.ndarray:
        """The number of words of each text, (N,), without separators."""
        counts = np.bincount(self.text_of_word, minlength=len(self))
        counts[:-1] -= 1
        return counts

    def surfaces(self, text: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[str]:
        """Return the characters start:end of text number `text`, for many spans."""
        spans = zip(text.tolist(), start.tolist(), end.tolist(), strict=True)
        return [self._texts[number][first:last] for number, first, last in spans]


def covered_words(first: np.ndarray, last: np.ndarray, words: int) -> np.ndarray:
    """Return which words are in any of the spans first:last, (W,) bool."""
    opened = np.bincount(first, minlength=words + 1)
    closed = np.bincount(last, minlength=words + 1)
    covered: np.ndarray = np.cumsum(opened - closed)[:words] > 0
    return covered
