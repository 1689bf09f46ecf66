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

from kgraft.columns import numbers
from kgraft.graph import Graph, Match, Mentions
from kgraft.graph.names import Form, english_words, ordinary_frequency
from kgraft.link.surface import Surface

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
    "word before",  # its ordinary frequency; a rare one may belong to the mention
    "word after",
    "inside longer",  # inside a longer name
    "inside variant",  # inside a longer variant or rewording of a name
    "contains shorter",  # a shorter name is inside
    "overlaps",  # overlaps another name without containing it
    "in question",  # the text is a short question
    "text words",  # log of their number
    "repeated",  # log of how often the same words are a mention of the text
    "ambiguity",  # log of the number of candidates
    "generic",  # log of how many names of the graph share its rarest word
    "covered English",  # log of the fraction of general English that the graph's names cover
    "covered text",  # fraction of the words of the text that are in names
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
    "derived",  # the name was derived from another
    "acronym in other case",  # the name is written in capitals, the mention is not
    "acronym",  # name and mention are written in capitals
    "concept",  # an ordinary thing in a graph whose names are mostly proper names
    "mention in other case",  # the name has capitals, the mention has not, and that means something
    "log degree",
    "described",
)
FEATURES = (*MENTION_FEATURES, *PAIR_FEATURES)
_CASES = tuple(map(np.uint8, (Form.LOWER, Form.UPPER, Form.MIXED)))
_KINDS = (
    Match.ABBREVIATION,
    Match.VARIANT,
    Match.REWORDED,
    Match.SHORTENED,
    Match.PARTIAL,
    Match.NEIGHBOUR,
)
_LABEL, _DERIVED = np.uint8(Form.LABEL), np.uint8(Form.DERIVED)
SAMPLED_NAMES = 5_000  # from which the habits of a graph are read
ORDINARY = 3.0  # Zipf frequency of an ordinary word
NOTHING = int(max(Match)) + 1  # beyond the least sure kind of match
FEW_ORDINARY = 0.03  # fraction of ordinary names below which they are mere coincidences


@dataclass(frozen=True)
class Habits:
    """How a graph writes its names."""

    ordinary: float  # fraction of names that consist of ordinary words
    lower: float  # fraction in small letters among those
    coverage: float  # fraction of the words of general English that are names, but for acronyms

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
        ordinary_ratio = ordinary.mean() if len(names) else 0.0
        lower_ratio = float((lower.sum() + 1) / (len(lower) + 2))
        return cls(float(ordinary_ratio), lower_ratio, _english_coverage(graph))


def _english_coverage(graph: Graph) -> float:
    """Return the fraction of the words of general English that are names of a graph."""
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
        enclosing, contains, overlaps = nesting(mentions)
        columns = (
            np.log(surface.words),
            np.log(mentions.end - mentions.start) / 3,
            *_written_features(surface),
            enclosing <= Match.NAME,
            (enclosing >= Match.VARIANT) & (enclosing <= Match.SHORTENED),
            contains,
            overlaps,
            surface.in_question,
            np.log(surface.text_words) / 5,
            np.log(surface.repeated),
            np.log(np.maximum(mentions.sizes, 1)) / 2,
            np.log1p(self.graph.aliases.count_holders(surface.rarest_word)) / 8,
            np.full(len(mentions), np.log10(self.habits.coverage + 1e-4) / 3),
            surface.covered_text,
        )
        return np.stack(columns, axis=1).astype(np.float32)

    def _case_features(self, surface: Surface, mentions: Mentions) -> tuple[np.ndarray, ...]:
        """Return how the letters of a mention fit those of the candidate's name, four columns."""
        owner, forms = mentions.owner, mentions.forms
        lower, upper, cased = (
            column[owner] for column in (surface.lower, surface.upper, surface.cased_text)
        )
        name_lower, name_upper, name_mixed = ((forms & case) > 0 for case in _CASES)
        only_upper = name_upper & ~name_lower & ~name_mixed
        return (
            only_upper & ~upper,
            name_upper & upper,
            (name_lower & lower) * (1 - self.habits.lower),
            (~name_lower & lower & cased) * self.habits.case_matters,
        )

    def _pair_features(self, surface: Surface, mentions: Mentions) -> np.ndarray:
        columns = (
            np.log(np.maximum(mentions.prior, 1e-4)) / 3,
            mentions.rank == 0,
            *(mentions.match == kind for kind in _KINDS),
            (mentions.forms & _LABEL) > 0,
            (mentions.forms & _DERIVED) > 0,
            *self._case_features(surface, mentions),
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


def _written_features(surface: Surface) -> tuple[np.ndarray, ...]:
    """Return the features of how mentions and the words beside them are written."""
    return (
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
        surface.word_before / 5,
        surface.word_after / 5,
    )


def _spans(mentions: Mentions) -> list[tuple[int, int, int]]:
    columns = (column.tolist() for column in (mentions.text, mentions.start, mentions.end))
    return list(zip(*columns, strict=True))


def nesting(mentions: Mentions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the surest kind of match that each mention lies in, and two masks, (M,) each.

    The kind is `NOTHING` where it lies in none; the masks say which contain a shorter mention, and
    which overlap another one otherwise. Mentions are in order of text, start and end.
    """
    count = len(mentions)
    enclosing = np.full(count, NOTHING)
    contains, overlaps = np.zeros((2, count), bool)
    spans, kind = _spans(mentions), mentions.kind.tolist()
    for first, (text, start, end) in enumerate(spans):
        for second in range(first + 1, count):
            other_text, other_start, other_end = spans[second]
            if other_text != text or other_start >= end:
                break
            if (other_start, other_end) == (start, end):
                continue  # a span that was given twice
            if other_end <= end:
                enclosing[second] = min(enclosing[second], kind[first])
                contains[first] = True
            elif other_start == start:
                enclosing[first] = min(enclosing[first], kind[second])
                contains[second] = True
            else:
                overlaps[first] = overlaps[second] = True
    return enclosing, contains, overlaps
