"""The name matcher: where texts name entities of a graph, and which entities each name may mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kgraft.arrays import expand
from kgraft.columns import arrow_strings
from kgraft.graph.graph import Graph
from kgraft.graph.mentions import Match, Mentions
from kgraft.graph.names.abbreviations import Definition, find_definitions, find_uses
from kgraft.graph.names.alias_build import Names, build_aliases
from kgraft.graph.names.aliases import Aliases
from kgraft.graph.names.fold import WordTokens
from kgraft.graph.names.partial_names import find_parts
from kgraft.graph.names.rewordings import JOINING, around_brackets, plausible_rewordings
from kgraft.graph.names.stems import Phrases
from kgraft.graph.names.tokenised import SEPARATOR, TokenisedTexts, covered_words
from kgraft.graph.names.words import ordinary_frequency

BARRIERS = frozenset(".;:!?()[]{}|•。！？；：\uffff")  # no variant of a name runs across one
COMMON = 4.5  # Zipf frequency of a word that is not a variant of another, but for its plural
COORDINATING = JOINING - {","}  # as in "cancer, breast"
SHORT_TEXT = 16  # words of a text, such as a question, in which part of a name may stand for it
SHORTEST = 5  # letters of a single word that is a variant of another

WordForms = Callable[[list[str]], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""From folded words, each once, to rows of: index of the word, entity it may mean, weight."""


class _Rows(NamedTuple):
    """One row per span and candidate; positions are those of all texts, joined."""

    start: np.ndarray
    end: np.ndarray
    entity: np.ndarray
    weight: np.ndarray
    match: np.ndarray
    forms: np.ndarray


@dataclass
class _Table:
    """The names of one graph: the indices of its entities, and those that are hidden."""

    aliases: Aliases
    indices: np.ndarray | None  # None: entities keep their indices
    hidden: np.ndarray

    @classmethod
    def of(cls, names: Sequence[str], entities: np.ndarray, counts: np.ndarray) -> _Table:
        """Return the table of some names, of one entity each."""
        column = pa.chunked_array([arrow_strings(list(names))])
        rows = Names(column, np.arange(len(entities), dtype=np.int32), counts)
        tables, seed = build_aliases(rows, np.zeros(len(entities), np.int64))
        return cls(Aliases(tables, seed), entities, np.zeros(0, np.int64))


class NameMatcher:
    """The names of a graph's entities, with those added since and without those removed.

    >>> matcher = NameMatcher(Graph.open("world"))
    >>> mentions = matcher.find(["She flew to Köln."])
    >>> mentions.start.tolist(), mentions.end.tolist()
    ([12], [16])
    """

    def __init__(self, graph: Graph) -> None:
        self._tables = [_Table(graph.aliases, None, np.zeros(0, np.int64))]
        self._pins: _Table | None = None
        self._learned: _Table | None = None
        self._removed = np.zeros(0, np.int64)

    def add(self, graph: Graph, entities: np.ndarray) -> None:
        """Take the names of entities from another graph, which has them in this order.

        It replaces what was added before.
        """
        del self._tables[1:]
        self._tables[0].hidden = np.union1d(self._tables[0].hidden, entities)
        self._removed = np.setdiff1d(self._removed, entities)
        self._tables.append(_Table(graph.aliases, entities, np.zeros(0, np.int64)))

    def remove(self, entities: np.ndarray) -> None:
        """Let entities be found by no name, not even by a pinned one."""
        self._removed = np.union1d(self._removed, entities)
        for table in self._tables:
            table.hidden = np.union1d(table.hidden, entities)

    def pin(self, names: Mapping[str, int]) -> None:
        """Let names mean one entity each, whatever else they may mean."""
        entities = np.array(list(names.values()), np.int64)
        self._pins = _Table.of(list(names), entities, np.ones(len(names), np.int64))

    def learn(self, names: Sequence[str], entities: np.ndarray, counts: np.ndarray) -> None:
        """Find entities by further names too, each seen so often to mean its entity.

        It replaces what was learnt before.
        """
        self._learned = _Table.of(names, entities, counts) if len(names) else None

    def _all_tables(self) -> list[_Table]:
        """Return the tables of names, that of learnt ones included."""
        if self._learned is None:
            return list(self._tables)
        return [*self._tables, replace(self._learned, hidden=self._removed)]

    def find(
        self, texts: Sequence[str], *, exact: bool = False, forms: WordForms | None = None
    ) -> Mentions:
        """Find all names in texts at word boundaries, overlapping ones too.

        With `exact`, only names as the graph has them: no inflections, no abbreviations. `forms`
        says which entities words mean besides those that they are names of.
        """
        texts = TokenisedTexts.of(texts)
        bounds, tokens = texts.bounds, texts.words
        tables = self._all_tables()
        parts = [_exact(table, tokens, Match.NAME) for table in tables]
        if not exact:
            names = _concatenate(parts)
            phrases = Phrases.of(tokens.words, _barriers(tokens.words))
            parts += [_variants(table, tokens, phrases) for table in tables]
            parts.append(_rewordings(tables, tokens, phrases, names))
            long = _in_long_texts(texts)
            parts += [_parts_of_names(table, tokens, names, long) for table in tables]
        if forms is not None:
            parts.append(_word_forms(tokens, forms))
        if self._pins is not None:
            pins = replace(self._pins, hidden=self._removed)
            parts.append(_exact(pins, tokens, Match.PINNED))
        mentions = _grouped(_concatenate(parts), bounds)
        return mentions if exact else _with_abbreviations(mentions, texts)


def _concatenate(parts: list[_Rows]) -> _Rows:
    filled = [part for part in parts if len(part.start)] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    return _Rows(*(np.concatenate(column) for column in zip(*filled, strict=True)))


def _grouped(rows: _Rows, bounds: np.ndarray) -> Mentions:
    """Return mentions of one text each; a name does not run on from one text into the next."""
    text = np.searchsorted(bounds, rows.start, side="right") - 1
    inside = rows.end <= bounds[text + 1] - len(SEPARATOR)
    start, end = rows.start - bounds[text], rows.end - bounds[text]
    columns = (text, start, end, *rows[2:])
    return Mentions.group(*(column[inside] for column in columns))


def _exact(table: _Table, tokens: WordTokens, match: Match) -> _Rows:
    matches = table.aliases.match_words(tokens)
    return _rows(table, matches.start, matches.end, matches.alias, match)


def _word_forms(tokens: WordTokens, forms: WordForms) -> _Rows:
    """Return the rows of what single words may mean, as surely as by their names."""
    words, index = np.unique(np.array(tokens.words, object), return_inverse=True)
    word, entity, weight = forms(words.tolist())
    order = np.argsort(word, kind="stable")
    word, entity, weight = word[order], entity[order], weight[order]
    token, row = expand(*(np.searchsorted(word, index, side=side) for side in ("left", "right")))
    kinds = np.full(len(row), Match.NAME, np.uint8)
    written = np.zeros(len(row), np.uint8)
    return _Rows(tokens.start[token], tokens.end[token], entity[row], weight[row], kinds, written)


def _barriers(words: Sequence[str]) -> np.ndarray:
    return np.fromiter((word in BARRIERS for word in words), bool, len(words))


def _variants(table: _Table, tokens: WordTokens, phrases: Phrases) -> _Rows:
    """Return the rows of names that stand in the text inflected or reordered."""
    first, last, alias = table.aliases.variants.find(phrases)
    kept = _plausible(table.aliases, tokens.words, first, last, alias)
    kept &= ~_adds_words(table.aliases, tokens.words, first, last, alias)
    first, last, alias = first[kept], last[kept], alias[kept]
    return _rows(table, tokens.start[first], tokens.end[last - 1], alias, Match.VARIANT)


def _rewordings(tables: list[_Table], tokens: WordTokens, phrases: Phrases, names: _Rows) -> _Rows:
    """Return the rows of names that stand in the text in other words, or lack a word.

    The words that the graph exchanges are exchanged in the names of added entities too.
    """
    words, spans, in_brackets = tokens.words, _word_spans(tokens, names), around_brackets(phrases)
    exchange = tables[0].aliases.rewordings.exchanged
    parts = []
    for table in tables:
        variants = table.aliases.variants
        bracketed = variants.find(in_brackets)
        adds_words = _adds_words(table.aliases, words, *bracketed)
        shortened = table.aliases.rewordings.shortened(phrases)
        for match, rows in (
            (Match.REWORDED, tuple(column[~adds_words] for column in bracketed)),
            (Match.REWORDED, plausible_rewordings(phrases, exchange(phrases, variants), spans)),
            (Match.SHORTENED, plausible_rewordings(phrases, shortened, spans)),
        ):
            first, last, alias = rows
            parts.append(_rows(table, tokens.start[first], tokens.end[last - 1], alias, match))
    return _concatenate(parts)


def _word_spans(tokens: WordTokens, names: _Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return first and last word (exclusive) of names."""
    return np.searchsorted(tokens.start, names.start), np.searchsorted(tokens.start, names.end)


def _in_long_texts(texts: TokenisedTexts) -> np.ndarray:
    """Return which words are in texts that have room for full names, (T,) bool."""
    return texts.word_counts[texts.text_of_word] > SHORT_TEXT


def _parts_of_names(table: _Table, tokens: WordTokens, names: _Rows, skipped: np.ndarray) -> _Rows:
    """Return the rows of parts of names, outside of names of several words and skipped words."""
    first, last = _word_spans(tokens, names)
    several = last - first > 1
    covered = skipped | covered_words(first[several], last[several], len(tokens.words))
    first, last, alias = find_parts(table.aliases, tokens.words, covered)
    return _rows(table, tokens.start[first], tokens.end[last - 1], alias, Match.PARTIAL)


def _plausible(
    aliases: Aliases, words: list[str], first: np.ndarray, last: np.ndarray, alias: np.ndarray
) -> np.ndarray:
    """Return which variants are: of several words, of a rare word, or the plural of the name."""
    kept = last - first > 1
    rows = np.flatnonzero(~kept)
    if not len(rows):
        return kept
    single = [words[position] for position in first[rows].tolist()]
    names = aliases.keys.take(alias[rows])
    plural = [
        _is_plural(*pair) or _is_plural(*pair[::-1]) for pair in zip(single, names, strict=True)
    ]
    long = np.fromiter((len(word) >= SHORTEST for word in single), bool, len(single))
    kept[rows] = (long & (ordinary_frequency(single) < COMMON)) | np.array(plural, bool)
    return kept


def _adds_words(
    aliases: Aliases, words: list[str], first: np.ndarray, last: np.ndarray, alias: np.ndarray
) -> np.ndarray:
    """Return which variants join what their name does not: "hypertension and renal [failure]".

    A name that does not begin with a number is not found behind one either: "grade 4 [anemia]".
    """
    joining = np.fromiter((word in COORDINATING for word in words), bool, len(words))
    number = np.fromiter((word.isdigit() for word in words), bool, len(words))
    joined = np.append(0, np.cumsum(joining))
    joins, numbered = joined[last] > joined[first], number[first]
    rows = np.flatnonzero(joins | numbered)
    names = [name.split() for name in aliases.keys.take(alias[rows])]
    joins[rows] &= np.array([COORDINATING.isdisjoint(name) for name in names], bool)
    numbered[rows] &= np.array([not name[0].isdigit() for name in names], bool)
    return joins | numbered


def _is_plural(word: str, name: str) -> bool:
    return word in (f"{name}s", f"{name}es", f"{name[:-1]}ies" if name.endswith("y") else "")


def _rows(
    table: _Table, start: np.ndarray, end: np.ndarray, alias: np.ndarray, match: Match
) -> _Rows:
    owner, entity, weight, forms = table.aliases.candidate_rows(alias)
    entity = entity if table.indices is None else table.indices[entity]
    kind = np.full(len(entity), match, np.uint8)
    rows = _Rows(start[owner], end[owner], entity, weight, kind, forms)
    if not len(table.hidden):
        return rows
    kept = ~np.isin(entity, table.hidden)
    return _Rows(*(column[kept] for column in rows))


def _with_abbreviations(mentions: Mentions, texts: Sequence[str]) -> Mentions:
    """Return mentions with the abbreviations that the texts define, wherever they are used."""
    uses = np.array(list(_abbreviations(mentions, texts)), np.int64).reshape(-1, 4)
    if not len(uses):
        return mentions
    taken = mentions.select(uses[:, 3])
    columns = [np.repeat(column, taken.sizes) for column in uses[:, :3].T]
    kind = np.full(len(taken.entity), Match.ABBREVIATION, np.uint8)
    own = [np.repeat(a, mentions.sizes) for a in (mentions.text, mentions.start, mentions.end)]
    candidates = (mentions.entity, mentions.prior, mentions.match, mentions.forms)
    more = (*columns, taken.entity, taken.prior, kind, taken.forms)
    both = zip((*own, *candidates), more, strict=True)
    return Mentions.group(*(np.concatenate(pair) for pair in both))


def _abbreviations(mentions: Mentions, texts: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield text, start and end of each use of an abbreviation, and the mention it stands for."""
    for index, text in enumerate(texts):
        if "(" not in text:
            continue
        first, last = np.searchsorted(mentions.text, [index, index + 1])
        sources: dict[tuple[str, str], int] = {}  # a text may repeat what it has defined
        for definition in find_definitions(text):
            rows = np.arange(first, last)[mentions.end[first:last] == definition.end]
            source = _long_form(mentions, rows, text, definition)
            if source is not None:
                long = text[mentions.start[source] : definition.end]
                sources.setdefault((definition.short, long), source)
        for (short, _), source in sources.items():
            for start, end in find_uses(text, short):
                yield index, start, end, source


def _long_form(
    mentions: Mentions, rows: np.ndarray, text: str, definition: Definition
) -> int | None:
    """Return the longest of the mentions that end a long form and begin as its short form does."""
    initial = definition.short[0].casefold()
    for row, start in zip(rows.tolist(), mentions.start[rows].tolist(), strict=True):
        if start >= definition.start and text[start].casefold() == initial:
            return row
    return None
