"""Surface: how mentions are written, in which letters, among which words, in what kind of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.graph import Match, Mentions
from kgraft.graph.names import TokenisedTexts, covered_words, ordinary_frequency


@dataclass(frozen=True)
class Surface:
    """How mentions are written, one value per mention in each array."""

    words: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    capital: np.ndarray
    cased_text: np.ndarray
    upper_text: np.ndarray
    at_sentence_start: np.ndarray
    rarest: np.ndarray
    rarest_word: list[str]
    commonest: np.ndarray
    after_capital: np.ndarray
    before_capital: np.ndarray
    word_before: np.ndarray
    word_after: np.ndarray
    in_question: np.ndarray
    text_words: np.ndarray
    covered_text: np.ndarray
    repeated: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[str], mentions: Mentions) -> Surface:
        """Look at mentions in their texts."""
        return _SurfaceReader(texts, mentions).read()


class _SurfaceReader:
    """Looks at mentions in their texts, which are joined to one."""

    def __init__(self, texts: Sequence[str], mentions: Mentions) -> None:
        self.texts, self.text = TokenisedTexts.of(texts), mentions.text
        self.bounds, self.joined = self.texts.bounds, self.texts.joined
        self.tokens = self.texts.words
        self.is_upper, lower = letter_cases(self.joined)
        self.upper_total = np.append(0, np.cumsum(self.is_upper))
        self.lower_total = np.append(0, np.cumsum(lower))
        self.by_name = mentions.kind <= Match.NAME
        self.by_definition = mentions.kind == Match.ABBREVIATION
        self.start = mentions.start + self.bounds[self.text]
        self.end = mentions.end + self.bounds[self.text]

    def read(self) -> Surface:
        first, last = self._words()
        rarest, rarest_word, commonest = self._frequencies(first, last)
        counts = self.texts.word_counts
        return Surface(
            words=last - first,
            at_sentence_start=self._sentence_starts(first),
            rarest=rarest,
            rarest_word=rarest_word,
            commonest=commonest,
            in_question=self._questions(counts)[self.text],
            text_words=np.maximum(counts[self.text], 1),
            covered_text=self._covered(first, last)[self.text],
            repeated=self._repeated(),
            **self._letters(first, last),
            word_before=self._neighbour_frequency(first - 1, self.start, before=True),
            word_after=self._neighbour_frequency(last, self.end, before=False),
        )

    def _words(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the words first:last that each mention touches.

        A mention that is only white space gets the word behind it.
        """
        first = np.searchsorted(self.tokens.end, self.start, side="right")
        first = np.minimum(first, len(self.tokens.end) - 1)
        return first, np.maximum(np.searchsorted(self.tokens.start, self.end), first + 1)

    def _letters(self, first: np.ndarray, last: np.ndarray) -> dict[str, np.ndarray]:
        """Return what the capitals of each mention, its text and its neighbours look like."""
        capitals = self.upper_total[self.end] - self.upper_total[self.start]
        smalls = self.lower_total[self.end] - self.lower_total[self.start]
        upper_text, cased_text = (texts[self.text] for texts in self._text_cases())
        before = self._is_capitalised(first - 1, self.start, before=True)
        after = self._is_capitalised(last, self.end, before=False)
        return {
            "lower": (capitals == 0) & (smalls > 0),
            "upper": (capitals > 1) & (smalls == 0),
            "capital": self.is_upper[self.start] & (smalls > 0),
            "cased_text": cased_text,
            "upper_text": upper_text,
            "after_capital": before & cased_text,
            "before_capital": after & cased_text,
        }

    def _text_cases(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which texts are written in capitals, and which in both cases."""
        low, high = self.bounds[:-1], np.minimum(self.bounds[1:], len(self.upper_total) - 1)
        capitals = self.upper_total[high] - self.upper_total[low]
        smalls = self.lower_total[high] - self.lower_total[low]
        upper = (smalls < 0.2 * capitals) & (capitals > 3)
        return upper, ~upper & (capitals > 0) & (smalls > 0)

    def _covered(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the fraction of the words of each text that are in mentions by name."""
        named = self.by_name
        covered = covered_words(first[named], last[named], len(self.tokens.words))
        text, size = self.texts.text_of_word, self.texts.word_counts
        return np.bincount(text, weights=covered, minlength=len(self.texts)) / np.maximum(size, 1)

    def _questions(self, token_counts: np.ndarray) -> np.ndarray:
        asks = [text.rstrip().endswith("?") or _asks(text) for text in self.texts]
        return np.array(asks, bool) & (token_counts <= 30)

    def _sentence_starts(self, first: np.ndarray) -> np.ndarray:
        """Return which mentions begin a text or follow the end of a sentence."""
        before = np.maximum(first - 1, 0)
        words = self.tokens.words
        ends = np.fromiter((words[t] in _SENTENCE_ENDS for t in before.tolist()), bool, len(before))
        new_text = self.tokens.start[before] < self.bounds[self.text]
        return (first == 0) | new_text | ends

    def _frequencies(
        self, first: np.ndarray, last: np.ndarray
    ) -> tuple[np.ndarray, list[str], np.ndarray]:
        """Return the ordinary frequency of the rarest and commonest word, and the rarest word."""
        words = self.tokens.words
        frequency = ordinary_frequency(words).tolist()
        rows = []
        for begin, end in zip(first.tolist(), last.tolist(), strict=True):
            worded = [t for t in range(begin, end) if any(map(str.isalnum, words[t]))]
            rarest = min(worded, key=frequency.__getitem__, default=begin)
            highest = max((frequency[t] for t in worded), default=0.0)
            rows.append((frequency[rarest] if worded else 0.0, highest, words[rarest]))
        low, high, rarest_words = zip(*rows, strict=True) if rows else ((), (), ())
        return np.array(low, np.float32), list(rarest_words), np.array(high, np.float32)

    def _is_capitalised(self, token: np.ndarray, edge: np.ndarray, *, before: bool) -> np.ndarray:
        """Return whether the neighbouring word begins with a capital."""
        near, is_near = self._neighbour(token, edge, before=before)
        return is_near & self.is_upper[self.tokens.start[near]]

    def _neighbour_frequency(
        self, token: np.ndarray, edge: np.ndarray, *, before: bool
    ) -> np.ndarray:
        """Return the ordinary frequency of the neighbouring word.

        A rare word next to a mention may belong to it: "muscular" before "injury". Where there is
        no word, the phrase ends, as it does next to the most frequent words.
        """
        near, is_near = self._neighbour(token, edge, before=before)
        words = self.tokens.words
        worded = np.fromiter((words[t][:1].isalnum() for t in near.tolist()), bool, len(near))
        frequency = ordinary_frequency([words[t] for t in near.tolist()])
        return np.where(is_near & worded, frequency, PHRASE_END)

    def _neighbour(
        self, token: np.ndarray, edge: np.ndarray, *, before: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbouring words, and whether each is one space away in the same text."""
        exists = (token >= 0) & (token < len(self.tokens.start))
        near = np.where(exists, token, 0)
        gap = edge - self.tokens.end[near] if before else self.tokens.start[near] - edge
        start = self.tokens.start[near]
        same_text = (start >= self.bounds[self.text]) & (start < self.bounds[self.text + 1])
        return near, exists & same_text & (gap == 1)

    def _repeated(self) -> np.ndarray:
        """Return how often the same words are a mention of the same text."""
        spans = zip(self.text.tolist(), self.start.tolist(), self.end.tolist(), strict=True)
        keys = [(text, self.joined[start:end].casefold()) for text, start, end in spans]
        counts: dict[tuple[int, str], int] = {}
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
        return np.fromiter((counts[key] for key in keys), np.int64, len(keys))


PHRASE_END = 7.0  # Zipf frequency above that of any word
_SENTENCE_ENDS = frozenset(".!?:•\"'-|")
_QUESTION_WORDS = frozenset(
    (
        *("who", "whom", "whose", "what", "which", "when", "where", "why", "how"),
        *("is", "are", "was", "were", "do", "does", "did", "can", "name"),
    )
)


def _asks(text: str) -> bool:
    """Tell whether a text begins like a question."""
    return text[:12].casefold().partition(" ")[0].partition("'")[0] in _QUESTION_WORDS


def letter_cases(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which characters are capital letters and which are small ones."""
    upper = np.fromiter(map(str.isupper, text), bool, len(text))
    return upper, np.fromiter(map(str.islower, text), bool, len(text))
