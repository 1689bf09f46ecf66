"""Features: what speaks for and against each candidate of a mention, besides the encoder's vectors.

All of them are about names, letters and the graph, never about one graph's topics, so that a head
that learnt to weigh them on some graphs can be used on any other. Where a graph has habits of its
own (labels in small letters, names that are ordinary words), a feature is relative to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from kgraft.graph import Graph
from kgraft.graph.abbreviations import find_definitions
from kgraft.graph.alias_build import Form
from kgraft.graph.columns import numbers
from kgraft.graph.mentions import Match, Mentions
from kgraft.graph.tokenised import TokenisedTexts, covered_words
from kgraft.graph.words import english_words, ordinary_frequency

MENTION_FEATURES = (
    "words",  # log of their number
    "letters",  # log of their number
    "lower",  # no capital letter
    "upper",  # several letters, all capitals
    "capital",  # begins with a capital, with small letters behind it
    "in cased text",  # the text has both cases, so that capitals mean something
    "in upper text",  # the text is written in capitals
    "at sentence start",
    "rarest word",  # ordinary frequency of the rarest word, lower is rarer
    "commonest word",
    "after capital",  # the word before is capitalised too, in cased text
    "before capital",
    "inside longer",  # inside a longer name
    "inside variant",  # inside a longer variant or rewording of a name
    "contains shorter",  # a shorter name is inside
    "overlaps",  # overlaps another name without containing it
    "in question",  # the text is a short question
    "text words",  # log of their number
    "repeated",  # log of how often the same words are a mention of the text
    "ambiguity",  # log of the number of candidates
    "generic",  # log of how many names of the graph share its rarest word
    "covered English",  # log of the share of general English that the graph's names cover
    "covered text",  # share of the words of the text that are in names
    "defined otherwise",  # the text says what the abbreviation means, and it is no name
)
PAIR_FEATURES = (
    "log prior",
    "first by prior",
    "abbreviation",
    "variant",
    "reworded",
    "shortened",
    "partial",
    "neighbour",
    "label",  # the name is the entity's label
    "derived",  # the name is a spoken form of another
    "acronym in other case",  # the name is written in capitals, the mention is not
    "acronym",  # name and mention are written in capitals
    "concept",  # an ordinary thing in a graph whose names are mostly proper names
    "mention in other case",  # the name has capitals, the mention has not, and that means something
    "log degree",
    "described",
)
FEATURES = (*MENTION_FEATURES, *PAIR_FEATURES)
_CASES = tuple(map(np.uint8, (Form.LOWER, Form.UPPER, Form.MIXED)))
_LABEL, _DERIVED = np.uint8(Form.LABEL), np.uint8(Form.DERIVED)
SAMPLED_NAMES = 5_000  # from which the habits of a graph are read
ORDINARY = 3.0  # Zipf frequency of an ordinary word
NOTHING = int(max(Match)) + 1  # beyond the least sure kind of match
FEW_ORDINARY = 0.03  # share of ordinary names below which they are mere coincidences


@dataclass(frozen=True)
class Habits:
    """How a graph writes its names."""

    ordinary: float  # share of names that consist of ordinary words
    lower: float  # share in small letters among those
    coverage: float  # share of the words of general English that are names, but for acronyms

    @property
    def case_matters(self) -> float:
        """How far a name with capitals is another one in small letters, from 0 to 1.

        It is where the graph writes ordinary names in small letters, or where hardly any name is
        an ordinary word, as in a graph of places. Where all names have capitals, ordinary ones
        too ("Colitis"), capitals are a habit and mean nothing.
        """
        return max(self.lower, 1 - min(self.ordinary / FEW_ORDINARY, 1))

    @classmethod
    def of(cls, graph: Graph) -> Habits:
        """Read the habits of a graph from some of its names."""
        names, forms = graph.aliases.sample(SAMPLED_NAMES)
        words = [word for name in names for word in name.split()]
        sizes = np.array([len(name.split()) for name in names])
        starts = np.append(0, np.cumsum(sizes))[:-1]
        frequency = ordinary_frequency(words)
        ordinary = np.minimum.reduceat(frequency, starts) >= ORDINARY if len(words) else sizes > 0
        lower = (forms[ordinary] & Form.LOWER) > 0
        share = ordinary.mean() if len(names) else 0.0
        lower_share = float((lower.sum() + 1) / (len(lower) + 2))
        return cls(float(share), lower_share, _english_coverage(graph))


def _english_coverage(graph: Graph) -> float:
    """Return the share of the words of general English that are names of a graph."""
    if not len(graph.aliases):
        return 0.0
    words, frequency = english_words()
    occurrences = 10.0**frequency
    forms = graph.aliases.word_forms(words)
    named = (forms & (Form.LOWER | Form.MIXED)) > 0
    return float(occurrences[named].sum() / occurrences.sum())


class FeatureReader:
    """Reads the features of mentions of a graph's entities."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.habits = graph, Habits.of(graph)

    def __call__(self, texts: Sequence[str], mentions: Mentions) -> np.ndarray:
        """Return the features of all candidates, (C, F) float32."""
        if not len(mentions.entity):
            return np.zeros((0, len(FEATURES)), np.float32)
        surface = Surface.of(texts, mentions)
        of_mentions = self._mention_features(surface, mentions)
        of_pairs = self._pair_features(surface, mentions)
        return np.hstack([of_mentions[mentions.owner], of_pairs])

    def _mention_features(self, surface: Surface, mentions: Mentions) -> np.ndarray:
        around, contains, overlaps = nesting(mentions)
        columns = (
            np.log(surface.words),
            np.log(mentions.end - mentions.start) / 3,
            surface.lower,
            surface.upper,
            surface.capital,
            surface.cased_text,
            surface.upper_text,
            surface.at_sentence_start,
            surface.rarest / 5,
            surface.commonest / 5,
            surface.after_capital,
            surface.before_capital,
            around <= Match.NAME,
            (around >= Match.VARIANT) & (around <= Match.SHORTENED),
            contains,
            overlaps,
            surface.in_question,
            np.log(surface.text_words) / 5,
            np.log(surface.repeated),
            np.log(np.maximum(mentions.sizes, 1)) / 2,
            np.log1p(self.graph.aliases.count_holders(surface.rarest_word)) / 8,
            np.full(len(mentions), np.log10(self.habits.coverage + 1e-4) / 3),
            surface.covered_text,
            surface.defined_otherwise,
        )
        return np.stack(columns, axis=1).astype(np.float32)

    def _pair_features(self, surface: Surface, mentions: Mentions) -> np.ndarray:
        owner, forms = mentions.owner, mentions.forms
        lower, upper, cased = (
            column[owner] for column in (surface.lower, surface.upper, surface.cased_text)
        )
        name_lower, name_upper, name_mixed = ((forms & case) > 0 for case in _CASES)
        only_upper = name_upper & ~name_lower & ~name_mixed
        rank = np.arange(len(owner)) - mentions.bounds[owner]
        columns = (
            np.log(np.maximum(mentions.prior, 1e-4)) / 3,
            rank == 0,
            mentions.match == Match.ABBREVIATION,
            mentions.match == Match.VARIANT,
            mentions.match == Match.REWORDED,
            mentions.match == Match.SHORTENED,
            mentions.match == Match.PARTIAL,
            mentions.match == Match.NEIGHBOUR,
            (forms & _LABEL) > 0,
            (forms & _DERIVED) > 0,
            only_upper & ~upper,
            name_upper & upper,
            (name_lower & lower) * (1 - self.habits.lower),
            (~name_lower & lower & cased) * self.habits.case_matters,
            np.log1p(self._degree(mentions.entity)) / 5,
            self._described(mentions.entity),
        )
        return np.stack(columns, axis=1).astype(np.float32)

    def _degree(self, entity: np.ndarray) -> np.ndarray:
        """Return the number of triples of entities; those added later have none."""
        degree = np.zeros(len(entity), np.int64)
        stored = entity < self.graph.adjacency.entities
        degree[stored] = self.graph.adjacency.degree(entities=entity[stored])
        return degree

    def _described(self, entity: np.ndarray) -> np.ndarray:
        """Return which entities have a description; those added later count as described."""
        described = np.ones(len(entity), bool)
        stored = entity < len(self._has_description)
        described[stored] = self._has_description[entity[stored]]
        return described

    @cached_property
    def _has_description(self) -> np.ndarray:
        length = pc.binary_length(self.graph.entities["description"])
        return numbers(pc.fill_null(length, 0)) > 0


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
    in_question: np.ndarray
    text_words: np.ndarray
    covered_text: np.ndarray
    repeated: np.ndarray
    defined_otherwise: np.ndarray

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
        # All tokens that a mention touches; one of only white space gets the token behind it.
        first = np.searchsorted(self.tokens.end, self.start, side="right")
        first = np.minimum(first, len(self.tokens.end) - 1)
        last = np.maximum(np.searchsorted(self.tokens.start, self.end), first + 1)
        capitals = self.upper_total[self.end] - self.upper_total[self.start]
        smalls = self.lower_total[self.end] - self.lower_total[self.start]
        upper_text, cased_text = self._text_cases()
        rarest, rarest_word, commonest = self._frequencies(first, last)
        token_counts = self.texts.word_counts
        return Surface(
            words=last - first,
            lower=(capitals == 0) & (smalls > 0),
            upper=(capitals > 1) & (smalls == 0),
            capital=self.is_upper[self.start] & (smalls > 0),
            cased_text=cased_text[self.text],
            upper_text=upper_text[self.text],
            at_sentence_start=self._sentence_starts(first),
            rarest=rarest,
            rarest_word=rarest_word,
            commonest=commonest,
            after_capital=self._is_capitalised(first - 1, self.start, before=True)
            & cased_text[self.text],
            before_capital=self._is_capitalised(last, self.end, before=False)
            & cased_text[self.text],
            in_question=self._questions(token_counts)[self.text],
            text_words=np.maximum(token_counts[self.text], 1),
            covered_text=self._covered(first, last)[self.text],
            repeated=self._repeated(),
            defined_otherwise=self._defined_otherwise(),
        )

    def _text_cases(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which texts are written in capitals, and which in both cases."""
        low, high = self.bounds[:-1], np.minimum(self.bounds[1:], len(self.upper_total) - 1)
        capitals = self.upper_total[high] - self.upper_total[low]
        smalls = self.lower_total[high] - self.lower_total[low]
        upper = (smalls < 0.2 * capitals) & (capitals > 3)
        return upper, ~upper & (capitals > 0) & (smalls > 0)

    def _covered(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the share of the words of each text that are in mentions by name."""
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
        """Return whether the neighbouring word, one space away, begins with a capital."""
        exists = (token >= 0) & (token < len(self.tokens.start))
        near = np.where(exists, token, 0)
        gap = edge - self.tokens.end[near] if before else self.tokens.start[near] - edge
        start = self.tokens.start[near]
        same_text = (start >= self.bounds[self.text]) & (start < self.bounds[self.text + 1])
        return exists & same_text & (gap == 1) & self.is_upper[start]

    def _repeated(self) -> np.ndarray:
        """Return how often the same words are a mention of the same text."""
        spans = zip(self.text.tolist(), self.start.tolist(), self.end.tolist(), strict=True)
        keys = [(text, self.joined[start:end].casefold()) for text, start, end in spans]
        counts: dict[tuple[int, str], int] = {}
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
        return np.fromiter((counts[key] for key in keys), np.int64, len(keys))

    def _defined_otherwise(self) -> np.ndarray:
        """Return which mentions are abbreviations that the text defines, but not as a name."""
        defined = [
            {definition.short for definition in find_definitions(text)} if "(" in text else set()
            for text in self.texts
        ]
        spans = zip(self.text.tolist(), self.start.tolist(), self.end.tolist(), strict=True)
        short = [self.joined[start:end] in defined[text] for text, start, end in spans]
        return np.array(short, bool) & ~self.by_definition


_SENTENCE_ENDS = frozenset(".!?:•\"'-|")
_QUESTION_WORDS = frozenset(
    [
        "who",
        "whom",
        "whose",
        "what",
        "which",
        "when",
        "where",
        "why",
        "how",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "name",
    ]
)


def _asks(text: str) -> bool:
    """Tell whether a text begins like a question."""
    return text[:12].casefold().partition(" ")[0].partition("'")[0] in _QUESTION_WORDS


def letter_cases(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which characters are capital letters and which are small ones."""
    upper = np.fromiter(map(str.isupper, text), bool, len(text))
    return upper, np.fromiter(map(str.islower, text), bool, len(text))


def nesting(mentions: Mentions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the surest kind of match that each mention lies in, and two masks, (M,) each.

    The kind is `NOTHING` where it lies in none; the masks say which contain a shorter mention, and
    which overlap another one otherwise. Mentions are in order of text, start and end.
    """
    count = len(mentions)
    around = np.full(count, NOTHING)
    contains, overlaps = np.zeros((2, count), bool)
    text, start, end = (a.tolist() for a in (mentions.text, mentions.start, mentions.end))
    kind = mentions.kind.tolist()
    for first in range(count):
        second = first + 1
        while second < count and text[second] == text[first] and start[second] < end[first]:
            if (start[second], end[second]) == (start[first], end[first]):
                pass  # a span that was given twice
            elif end[second] <= end[first]:
                around[second] = min(around[second], kind[first])
                contains[first] = True
            elif start[second] == start[first]:
                around[first] = min(around[first], kind[second])
                contains[second] = True
            else:
                overlaps[first] = overlaps[second] = True
            second += 1
    return around, contains, overlaps
