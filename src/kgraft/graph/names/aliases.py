"""Aliases: which entities a name may mean, and where names stand in running text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from kgraft.arrays import expand
from kgraft.columns import StringColumn, numbers
from kgraft.graph.names.alias_build import LONGER, lengthen
from kgraft.graph.names.fold import HashedTokens, WordTokens, fold_name, hash_words
from kgraft.graph.names.rewordings import RewordingIndex
from kgraft.graph.names.stems import VariantIndex
from kgraft.hashing import HashIndex
from kgraft.result_cache import ResultCache

NAMES_OF_WORDS = 2048  # words whose names are kept once they were read
_ALIASES = 1000  # of those that fit a search, whose candidates are weighed against one another


@dataclass(frozen=True)
class Matches:
    """Places of a text where an alias stands, in order of start, then end."""

    start: np.ndarray  # (M,) int64, characters
    end: np.ndarray  # (M,) int64, exclusive
    alias: np.ndarray  # (M,) int64, row of the alias

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return zip(self.start.tolist(), self.end.tolist(), self.alias.tolist(), strict=True)


class Aliases:
    """The memory-mapped alias tables of a graph (see `alias_build` for what they hold)."""

    def __init__(self, tables: dict[str, pa.Table], seed: int) -> None:
        self.seed = seed
        self.keys = StringColumn(tables["aliases"]["key"])  # sorted
        self._bounds = numbers(tables["alias_bounds"]["start"])
        self._entity = numbers(tables["candidates"]["entity"])
        self._weight = numbers(tables["candidates"]["weight"])
        self._forms = numbers(tables["name_forms"]["forms"])
        self.variants = VariantIndex(tables["variants"])
        self.rewordings = RewordingIndex(tables["rewordings"], tables["reduced"])
        self._value = numbers(tables["phrases"]["value"])
        self._phrases = _hash_index(tables["phrases"], tables["phrase_buckets"])
        self._postings = numbers(tables["postings"]["alias"])
        self._word_start = numbers(tables["words"]["start"])
        self._words = _hash_index(tables["words"], tables["word_buckets"])
        self._open_caches()

    def _open_caches(self) -> None:
        """Keep what was looked up for words."""
        self._first_words = ResultCache[str, tuple[int, int]](self._look_up_words)
        self._names_with = ResultCache[str, list[tuple[int, list[str]]]](
            lambda words: map(self._find_names_with, words), NAMES_OF_WORDS
        )
        self._holder_counts = ResultCache[str, int](self._count_holders)

    def __len__(self) -> int:
        return len(self.keys)

    def row(self, name: str) -> int | None:
        """Return the row of a name, compared by its folded form, or None."""
        token = HashedTokens.of(name, self.seed).hash
        if not len(token):
            return None
        phrase = token[:1]
        for position in range(1, len(token)):
            phrase = lengthen(phrase, token[position : position + 1], self.seed)
        row = int(self._phrases.find(phrase)[0])
        alias = int(self._value[row] & ~LONGER) - 1 if row >= 0 else -1
        return alias if alias >= 0 and self.keys[alias] == fold_name(name) else None

    def candidates(self, alias: int, limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the entities an alias may mean, best first, with priors p(entity | surface)."""
        rows = slice(self._bounds[alias], self._bounds[alias + 1])
        weight = self._weight[rows]
        return self._entity[rows][:limit], (weight / weight.sum())[:limit]

    def named(self, name: str) -> np.ndarray:
        """Return the row of a name, if it is one."""
        row = self.row(name)
        return np.array([] if row is None else [row], np.int64)

    def starting_with(self, prefix: str) -> np.ndarray:
        """Return the rows of aliases that start with a prefix."""
        wanted = fold_name(prefix)
        if not wanted:
            return np.zeros(0, np.int64)
        first = bisect_left(self.keys, wanted)
        beyond = bisect_left(self.keys, wanted + "\U0010ffff", lo=first)
        return np.arange(first, beyond)

    def with_words(self, words: str) -> np.ndarray:
        """Return the rows of aliases that hold all the words in any order; signs do not count."""
        tokens = HashedTokens.of(words, self.seed)
        spans = zip(tokens.start.tolist(), tokens.end.tolist(), strict=True)
        signs = np.array([not any(map(str.isalnum, words[a:b])) for a, b in spans], bool)
        hashes = tokens.hash if signs.all() else tokens.hash[~signs]
        places = self._words.find(np.unique(hashes))
        if not len(places) or (places < 0).any():
            return np.zeros(0, np.int64)
        rarest, *others = sorted((self._holders(position) for position in places.tolist()), key=len)
        for rows in others:
            rarest = np.intersect1d(rarest, rows, assume_unique=True)
        return rarest.astype(np.int64)

    def _holders(self, word: int) -> np.ndarray:
        last = word + 1 == len(self._word_start)
        end = len(self._postings) if last else self._word_start[word + 1]
        return self._postings[self._word_start[word] : end]

    def best(self, aliases: np.ndarray, limit: int) -> list[tuple[int, int]]:
        """Return (entity, alias) of the heaviest candidates of many aliases, each entity once."""
        heaviest = self._weight[self._bounds[aliases]]  # candidates stand by weight
        if len(aliases) > (enough := _ALIASES + 10 * limit):
            aliases = aliases[np.sort(np.argpartition(-heaviest, enough)[:enough])]
        owner, row = expand(self._bounds[aliases], self._bounds[aliases + 1])
        order = np.argsort(-self._weight[row], kind="stable")
        entity, first = np.unique(self._entity[row[order]], return_index=True)
        top = np.argsort(first)[:limit]
        return [(int(entity[i]), int(aliases[owner[order[first[i]]]])) for i in top]

    def find(self, text: str, *, overlapping: bool = False) -> Matches:
        """Find the aliases that stand in a text at word boundaries.

        By default leftmost-longest: from left to right, at each word the longest alias, and the
        next one behind it. With `overlapping`, all of them.
        """
        return self.match(HashedTokens.of(text, self.seed), overlapping=overlapping)

    def match(self, tokens: HashedTokens, *, overlapping: bool = False) -> Matches:
        """Find the aliases in a text that is cut into tokens already, with this table's seed."""
        first, length, alias = self._phrases_in(tokens.hash, self._values(tokens.hash))
        if not overlapping:
            kept = _leftmost_longest(first, length)
            first, length, alias = first[kept], length[kept], alias[kept]
        return _matches(tokens.start, tokens.end, first, length, alias)

    def weights(self, aliases: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the candidates of many aliases: place among the aliases, entity and weight."""
        owner, row = expand(self._bounds[aliases], self._bounds[aliases + 1])
        return owner, self._entity[row].astype(np.int64), self._weight[row]

    def candidate_rows(
        self, aliases: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the candidates of many aliases: owner, entity, weight and forms of the name."""
        owner, row = expand(self._bounds[aliases], self._bounds[aliases + 1])
        return owner, self._entity[row].astype(np.int64), self._weight[row], self._forms[row]

    def sample(self, limit: int) -> tuple[list[str], np.ndarray]:
        """Return at most `limit` names spread evenly over all, and how their first is written."""
        rows = np.arange(0, len(self), max(1, -(-len(self) // limit)))
        return self.keys.take(rows), self._forms[self._bounds[rows]]

    def word_forms(self, words: Sequence[str]) -> np.ndarray:
        """Return how folded words are written as names, all their candidates together; 0: none."""
        row = self._phrases.find(hash_words(words, self.seed))
        word = np.flatnonzero(row >= 0)
        alias = (self._value[row[word]] & ~LONGER).astype(np.int64) - 1
        word, alias = word[alias >= 0], alias[alias >= 0]
        forms = np.zeros(len(words), np.uint8)
        owner, _, _, written = self.candidate_rows(alias)
        np.bitwise_or.at(forms, word[owner], written)
        return forms

    def count_holders(self, words: Sequence[str]) -> np.ndarray:
        """Return how many names hold each folded word, (N,)."""
        return np.array(self._holder_counts(words), np.int64)

    def _count_holders(self, words: list[str]) -> list[int]:
        row = self._words.find(hash_words(words, self.seed))
        counts: list[int] = np.where(row >= 0, self._holders_of_words[row], 0).tolist()
        return counts

    @cached_property
    def _holders_of_words(self) -> np.ndarray:
        """How many names hold each word of the table; 0 behind the last."""
        return np.append(np.diff(self._word_start, append=len(self._postings)), 0)

    def match_words(self, tokens: WordTokens) -> Matches:
        """Find all aliases in a text that is cut into words already, overlapping ones too."""
        first_words = np.array(self._first_words(tokens.words), np.uint64).reshape(-1, 2)
        phrases = self._phrases_in(first_words[:, 0], first_words[:, 1].astype(self._value.dtype))
        return _matches(tokens.start, tokens.end, *phrases)

    def _look_up_words(self, words: list[str]) -> list[tuple[int, int]]:
        """Return the hash of each word, and its value as the first word of phrases."""
        hashes = hash_words(words, self.seed)
        return list(zip(hashes.tolist(), self._values(hashes).tolist(), strict=True))

    def names_with(self, word: str) -> list[tuple[int, list[str]]]:
        """Return the names that hold a word: the row of each, and its words."""
        return self._names_with([word])[0]

    def _find_names_with(self, word: str) -> list[tuple[int, list[str]]]:
        rows = self.with_words(word)
        names = self.keys.take(rows)
        pairs = ((row, name.split(" ")) for row, name in zip(rows.tolist(), names, strict=True))
        return [(row, words) for row, words in pairs if word in words]

    def _values(self, phrases: np.ndarray) -> np.ndarray:
        """Return what the table says of phrases by their hashes, 0 for those not in it."""
        row = self._phrases.find(phrases)
        values = np.zeros(len(phrases), self._value.dtype)
        values[row >= 0] = self._value[row[row >= 0]]
        return values

    def _phrases_in(
        self, token: np.ndarray, value: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first token, number of tokens and alias of every match, in this order.

        `value` is what the table says of each token as the first of a phrase.
        """
        none = np.zeros(0, np.int64)
        parts = [(none, none, none), *self._phrases_by_length(token, value)]
        first, size, alias = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((size, first))
        return first[order], size[order], alias[order]

    def _phrases_by_length(
        self, token: np.ndarray, value: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the matches of one token, those of two, and so on."""
        active, phrase, length = np.arange(len(token)), token, 1
        while active.size:
            alias = (value & ~LONGER).astype(np.int64) - 1
            is_name = alias >= 0
            yield active[is_name], np.full(int(is_name.sum()), length), alias[is_name]
            more = ((value & LONGER) != 0) & (active + length < len(token))
            active = active[more]
            phrase = lengthen(phrase[more], token[active + length], self.seed)
            value = self._values(phrase)
            length += 1


def _hash_index(table: pa.Table, buckets: pa.Table) -> HashIndex:
    return HashIndex(numbers(table["hash"]), numbers(buckets["start"]))


def _matches(
    start: np.ndarray, end: np.ndarray, first: np.ndarray, length: np.ndarray, alias: np.ndarray
) -> Matches:
    return Matches(start[first], end[first + length - 1], alias)


def _leftmost_longest(first: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return which of the matches (sorted by first, then length) a scan from the left keeps."""
    rows = np.flatnonzero(np.append(first[1:] != first[:-1], True)[: len(first)])  # the longest
    start, end = first[rows], first[rows] + length[rows]
    reach = np.maximum.accumulate(end)
    kept = np.append(True, start[1:] >= reach[:-1])[: len(rows)]  # clear of all before them
    reached = 0
    for row in np.flatnonzero(~kept).tolist():
        if kept[row - 1]:
            reached = end[row - 1]
        if start[row] >= reached:
            kept[row] = True
    return rows[kept]
