"""Rewordings: words that a graph uses for one another, learnt from its own names.

Where one entity is called "Kidney Failure" and "Renal Failure", and others likewise, "kidney" and
"renal" may stand for each other, and "renal papillary necrosis" is a rewording of "Kidney Papillary
Necrosis". A word may also stand for nothing: "Lesch-Nyhan" for "Lesch-Nyhan Syndrome". Two words
are exchangeable if names that differ in them alone mean the same entity often enough, and in a good
share of all cases: "type 1" and "type 2" differ in thousands of names, and seldom mean the same.

As in `variants`, the key of a phrase is the sum of the hashes of its stems, so that a word is
exchanged by one subtraction and one addition. The hash of "no word" is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kgraft.arrays import expand, run_starts
from kgraft.columns import narrow, numbers
from kgraft.graph.names.stems import LONGEST, Phrases, VariantIndex
from kgraft.graph.names.words import FUNCTION_WORD, ordinary_frequency
from kgraft.hashing import mix

FEWEST = 3  # cases in which names that differ in two words alone mean the same entity
RELIABLE = 0.4  # share of all cases in which names that differ in two words alone
SAMPLED = 200_000  # entities from whose names the words are learnt
LARGEST = 64  # names of one entity that differ in one word alone, at most
NO_WORD = np.uint64(0)
SHORTEST = 5  # letters of the longest word of a rewording
FREQUENT = 6.2  # Zipf frequency of a word that is not part of a rewording, such as "her"
JOINING = frozenset(",/=%") | {"and", "or", "with"}  # no rewording runs across one
BRACKETED = 8  # words in brackets that may stand within a name, the first bracket among them


class _Holes(NamedTuple):
    """Names with one of their words left out; the left-out word of a whole name is `NO_WORD`."""

    rest: np.ndarray  # (H,) uint64, key of the name without the word
    word: np.ndarray  # (H,) uint64
    alias: np.ndarray  # (H,) int64

    def take(self, rows: np.ndarray) -> _Holes:
        return _Holes(self.rest[rows], self.word[rows], self.alias[rows])


def build_rewordings(
    name: np.ndarray, stem: np.ndarray, owner: np.ndarray, entity: np.ndarray
) -> dict[str, pa.Table]:
    """Return the tables of exchangeable words and of names without a word that may be left out.

    `name` and `stem` (W,) are the stems of all names, see `name_stems`; `owner` and `entity` (C,)
    the names and the entities that they may mean.
    """
    holes = _leave_out(name, stem)
    pairs = _exchangeable(holes, owner, entity)
    droppable = pairs[0, pairs[1] == NO_WORD]
    pairs = pairs[:, (pairs != NO_WORD).all(0)]
    without = np.isin(holes.word, droppable)
    key, alias = holes.rest[without], holes.alias[without]
    order = np.argsort(key, kind="stable")
    return {
        "rewordings": pa.table({"word": pairs[0], "other": pairs[1]}),
        "reduced": pa.table({"hash": key[order], "alias": narrow(alias[order])}),
    }


def _leave_out(name: np.ndarray, stem: np.ndarray) -> _Holes:
    """Return all names, not too long, whole and with each of their words left out."""
    size = np.bincount(name)
    key = np.zeros(len(size), np.uint64)
    np.add.at(key, name, stem)
    full_names = np.flatnonzero((size > 0) & (size <= LONGEST))
    inner = (size[name] > 1) & (size[name] <= LONGEST)
    alias, word = name[inner], stem[inner]
    return _Holes(
        np.append(key[alias] - word, key[full_names]),
        np.append(word, np.zeros(len(full_names), np.uint64)),
        np.append(alias, full_names),
    )


def _exchangeable(holes: _Holes, owner: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Return the pairs of words that may stand for each other, (2, P), in order, both ways."""
    step = max(1, -(-(int(entity.max(initial=0)) + 1) // SAMPLED))
    sampled = entity % step == 0
    pairs, same = _count_same(holes, owner[sampled], entity[sampled])
    pairs, same = pairs[:, same >= FEWEST], same[same >= FEWEST]
    pairs = pairs[:, same * step >= RELIABLE * _count_all(holes, pairs)]
    both = np.hstack([pairs, pairs[::-1]])
    return both[:, np.lexsort(both[::-1])]


def _count_same(
    holes: _Holes, owner: np.ndarray, entity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of words in which names of one entity differ, and in how many cases."""
    rest, one, other = _cases_of_one_entity(*_holes_by_entity(holes, owner, entity))
    rows = _distinct(rest, other, one)[0]  # names of several entities count once
    one, other = one[rows], other[rows]
    first, count = _distinct(other, one)
    return np.stack([one[first], other[first]]), count


def _holes_by_entity(
    holes: _Holes, owner: np.ndarray, entity: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return entity, rest and left-out word of the names of all entities, in order, each once."""
    order = np.argsort(owner, kind="stable")
    owner, entity = owner[order], entity[order]
    low, high = (np.searchsorted(owner, holes.alias, side) for side in ("left", "right"))
    row, candidate = expand(low, high)
    named, rest, word = entity[candidate], holes.rest[row], holes.word[row]
    rows = _distinct(word, rest, named)[0]
    return named[rows], rest[rows], word[rows]


def _cases_of_one_entity(
    named: np.ndarray, rest: np.ndarray, word: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rest and both words of every two names of an entity that differ in one word."""
    one, other = _pairs_within_groups(run_starts(rest, named))
    return rest[one], word[one], word[other]


def _distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of each set of equal rows, sorted by the last column first, and its size."""
    order = np.lexsort(columns)
    new = np.flatnonzero(run_starts(*(column[order] for column in columns)))
    return order[new], np.diff(np.append(new, len(order)))


def _pairs_within_groups(new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows of one group, the first before the second.

    `new` says which rows begin a group.
    """
    count = len(new)
    last = np.append(np.flatnonzero(new), count)[np.cumsum(new)]
    first = np.arange(count) + 1
    return expand(first, np.minimum(last, first + LARGEST))


def _count_all(holes: _Holes, pairs: np.ndarray) -> np.ndarray:
    """Return in how many cases names differ in each pair of words alone, (P,)."""
    cases = np.unique(mix(holes.rest) + holes.word)
    order = np.argsort(holes.word, kind="stable")
    word, rest = holes.word[order], holes.rest[order]
    low, high = (np.searchsorted(word, pairs, side) for side in ("left", "right"))  # (2, P) each
    rarer, column = (high - low).argmin(0), np.arange(pairs.shape[1])
    pair, row = expand(low[rarer, column], high[rarer, column])
    rest = rest[row]
    rows = _distinct(rest, pair)[0]
    pair, rest = pair[rows], rest[rows]
    wanted = mix(rest) + pairs[1 - rarer, column][pair]
    there = np.isin(wanted, cases)
    return np.bincount(pair[there], minlength=pairs.shape[1])


class RewordingIndex:
    """The rewordings of a graph's names, memory-mapped."""

    def __init__(self, rewordings: pa.Table, reduced: pa.Table) -> None:
        self._reduced = VariantIndex(reduced)
        self._word, self._other = numbers(rewordings["word"]), numbers(rewordings["other"])

    def shortened(self, phrases: Phrases) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first word, last word (exclusive) and alias of phrases that lack one word."""
        return self._reduced.find(phrases)

    def exchanged(
        self, phrases: Phrases, variants: VariantIndex
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first word, last word (exclusive) and alias of phrases with one word exchanged.

        Only phrases of several words are looked at. `variants` are the names to find, those of the
        graph or of entities that were added to it.
        """
        hashes = phrases.hashes
        low, high = (np.searchsorted(self._word, hashes, side) for side in ("left", "right"))
        high = np.where(ordinary_frequency(phrases.words) < FUNCTION_WORD, high, low)
        several = _sums(phrases, hashes != NO_WORD) > 1
        rows = np.flatnonzero(several & (_sums(phrases, high - low) > 0))
        phrase, position = expand(phrases.first[rows], phrases.last[rows])
        inner, pair = expand(low[position], high[position])
        position, phrase = position[inner], rows[phrase[inner]]
        key = phrases.key[phrase] - hashes[position] + self._other[pair]
        return variants.look_up(phrases.first[phrase], phrases.last[phrase], key)


def plausible_rewordings(
    phrases: Phrases,
    rewordings: tuple[np.ndarray, np.ndarray, np.ndarray],
    names: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leave out of the rewordings in a text (first word, last word, alias) what is seldom meant.

    A rewording has several words, one of them long, no comma, "and" or word as frequent as "her"
    among them, and is not just a piece of a name that stands in the text; `names` are first and
    last word (exclusive) of those.
    """
    words = phrases.words
    first, last, alias = rewordings
    if not len(first):
        return rewordings
    long = np.fromiter((len(word) >= SHORTEST for word in words), bool, len(words))
    joining = np.fromiter((word in JOINING for word in words), bool, len(words))
    joining |= (ordinary_frequency(words) >= FREQUENT) & (phrases.hashes != NO_WORD)
    kept = (last - first > 1) & _any_within(long, first, last)
    kept &= ~_any_within(joining, first, last) & ~_cuts_name(first, last, *names)
    return first[kept], last[kept], alias[kept]


def _any_within(flags: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return which phrases hold a word with a flag."""
    total = np.append(0, np.cumsum(flags))
    return total[last] > total[first]


def _cuts_name(
    first: np.ndarray, last: np.ndarray, name_first: np.ndarray, name_last: np.ndarray
) -> np.ndarray:
    """Return which phrases begin or end between two words of a name."""
    size = int(max(last.max(initial=0), name_last.max(initial=0))) + 1
    edges = np.zeros(size + 1, np.int64)
    np.add.at(edges, name_first + 1, 1)
    np.add.at(edges, name_last, -1)
    inside = np.cumsum(edges)[:-1] > 0  # a name runs on from the word before
    return inside[first] | inside[last]


def around_brackets(phrases: Phrases) -> Phrases:
    """Return the phrases that continue behind brackets: "von Hippel-Lindau (VHL) disease"."""
    inside = in_brackets(phrases.words)
    if not inside.any():
        return phrases.take(np.zeros(0, np.int64))
    outside = np.flatnonzero(~inside)
    rest = Phrases.of(
        [phrases.words[position] for position in outside.tolist()], phrases.barrier[outside]
    )
    first, last = outside[rest.first], outside[rest.last - 1] + 1
    joined = replace(phrases, first=first, last=last, key=rest.key)
    return joined.take(np.flatnonzero(last - first > rest.last - rest.first))


def in_brackets(words: Sequence[str]) -> np.ndarray:
    """Return which words are in a short pair of brackets, which themselves are too, (N,) bool."""
    inside = np.zeros(len(words), bool)
    if "(" not in words and "[" not in words:
        return inside
    opened = None
    for position, word in enumerate(words):
        if word in ("(", "["):
            opened = position
        elif word in (")", "]") and opened is not None:
            inside[opened : position + 1] = position - opened <= BRACKETED
            opened = None
    return inside


def _sums(phrases: Phrases, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values of the words of each phrase."""
    sums = np.append(0, np.cumsum(values))
    return sums[phrases.last] - sums[phrases.first]
