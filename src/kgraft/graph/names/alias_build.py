"""Building the alias tables: from the names of the entities to what `aliases.Aliases` reads.

aliases       key             one row a folded name, in order of the keys
alias_bounds  start           the candidates of alias i are rows start[i] : start[i + 1] of
candidates    entity, weight  … this table
phrases       hash, value     every beginning of every alias, word by word
words         hash, start     the aliases that hold a word are rows start[i] : start[i + 1] of
postings      alias           … this table
name_forms    forms           how the name of each row of `candidates` is written, see `Form`
variants      hash, alias     names by their stems, see `variants`
rewordings    word, other     stems that may stand for each other, see `rewordings`
reduced       hash, alias     names without one of their stems that may be left out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import broken_codepoints, flat, narrow, numbers
from kgraft.graph.names.fold import FoldedNames
from kgraft.graph.names.rewordings import build_rewordings
from kgraft.graph.names.stems import build_variants, name_stems
from kgraft.hashing import HashIndex, distinct_hashes, hash_segments, multiplier
from kgraft.progress import Progress, Silent

LONGER = np.uint32(1 << 31)  # set in `value` where some alias continues behind this phrase
_NAMES = 1 << 17  # names folded at a time


class Form(IntFlag):
    """How a name of an entity is written; one name may be written in several ways."""

    LOWER = 1  # all letters are small
    UPPER = 2  # all letters are capitals
    MIXED = 4  # both, or no letters at all
    LABEL = 8  # it is the label, not an alias
    DERIVED = 16  # only a spoken form of a name, see `spoken`


@dataclass(frozen=True)
class Names:
    """Every name of every entity, with how often it was seen (-1: the source did not count)."""

    name: pa.ChunkedArray
    entity: np.ndarray  # (N,) int32
    count: np.ndarray  # (N,) int64
    origin: np.ndarray | None = None  # (N,) uint8: Form.LABEL, Form.DERIVED, or 0 for an alias

    def forms(self) -> np.ndarray:
        """Return how each name is written, (N,) uint8."""
        name = flat(self.name)
        upper, lower = (numbers(test(name)) for test in (pc.utf8_is_upper, pc.utf8_is_lower))
        case = np.where(upper, Form.UPPER, np.where(lower, Form.LOWER, Form.MIXED))
        origin = np.zeros(len(case), np.uint8) if self.origin is None else self.origin
        return case.astype(np.uint8) | origin


def lengthen(phrase: np.ndarray, token: np.ndarray, seed: int) -> np.ndarray:
    """Return the hash of a phrase with one more token behind it: h(w₁…wₙ₊₁) = h(w₁…wₙ)·C + wₙ₊₁."""
    return phrase * multiplier(seed + 1) + token


def build_aliases(
    names: Names, degree: np.ndarray, progress: Progress | None = None
) -> tuple[dict[str, pa.Table], int]:
    """Return the alias tables by name, and the seed of their hashes."""
    progress = progress or Silent()
    keys = _fold(names.name, progress)
    aliases, alias = _distinct(keys)
    tables = {"aliases": pa.table({"key": aliases})}
    tables |= _candidates(names, alias, degree, len(aliases))

    progress.start("indexing names", None)
    phrases = distinct_hashes(lambda seed: _phrases(aliases, seed), lambda made: made.whole_hash)
    tables |= _phrase_tables(phrases) | _word_tables(phrases)
    name, stem = name_stems(aliases)
    tables["variants"] = build_variants(name, stem, len(aliases))
    bounds = numbers(tables["alias_bounds"]["start"])
    owner = np.repeat(np.arange(len(aliases)), np.diff(bounds))
    tables |= build_rewordings(name, stem, owner, numbers(tables["candidates"]["entity"]))
    return tables, phrases.seed


def _fold(names: pa.ChunkedArray, progress: Progress) -> pa.ChunkedArray:
    progress.start("folding names", len(names))
    keys = []
    for chunk in names.chunks:
        for first in range(0, len(chunk), _NAMES):
            piece = chunk.slice(first, _NAMES)
            keys.append(FoldedNames.of(piece).keys())
            progress.advance(len(piece))
    return pa.chunked_array(keys, pa.large_string())


def _distinct(keys: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the different keys in order, and for every name its row there (-1: no visible key)."""
    encoded = pc.dictionary_encode(flat(keys))
    order = numbers(pc.sort_indices(encoded.dictionary))
    aliases = encoded.dictionary.take(pa.array(order))
    if aliases.nbytes < 1 << 31:
        aliases = aliases.cast(pa.string())
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    alias = rank[numbers(encoded.indices)]
    if len(aliases) and aliases[0].as_py() == "":
        return aliases.slice(1), alias - 1
    return aliases, alias


def _candidates(
    names: Names, alias: np.ndarray, degree: np.ndarray, aliases: int
) -> dict[str, pa.Table]:
    """Weigh each (alias, entity): 1 + counts where some candidate has any, else 1 + degree."""
    visible = alias >= 0
    row, entity, pair = _distinct_pairs(alias[visible], names.entity[visible])
    seen, counted = _counts(names.count[visible], pair, row, aliases)
    weight = 1.0 + np.where(counted[row], seen, degree[entity])
    order = np.lexsort((entity, -weight, row))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=aliases))])
    forms = _pair_forms(names.forms()[visible], pair, len(row))
    return {
        "alias_bounds": pa.table({"start": narrow(bounds)}),
        "candidates": pa.table(
            {"entity": entity[order], "weight": weight[order].astype(np.float32)}
        ),
        "name_forms": pa.table({"forms": forms[order]}),
    }


def _distinct_pairs(
    alias: np.ndarray, entity: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return alias and entity of each distinct pair, in order, and the pair of each row."""
    pairs, pair = np.unique(alias << np.int64(32) | entity, return_inverse=True)
    return pairs >> np.int64(32), (pairs & np.int64(0xFFFFFFFF)).astype(np.int32), pair


def _counts(
    count: np.ndarray, pair: np.ndarray, row: np.ndarray, aliases: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each pair was seen, and which aliases were counted at all.

    `count` and `pair` are of names, `row` gives the alias of each pair.
    """
    seen = np.bincount(pair, weights=np.maximum(count, 0), minlength=len(row))
    counted = np.zeros(aliases, bool)
    counted[row[pair[count >= 0]]] = True
    return seen, counted


def _pair_forms(forms: np.ndarray, pair: np.ndarray, pairs: int) -> np.ndarray:
    """Return the forms of all names of each pair; one that has a name of its own is not derived."""
    united = np.zeros(pairs, np.uint8)
    np.bitwise_or.at(united, pair, forms)
    united[pair[(forms & Form.DERIVED) == 0]] &= ~np.uint8(Form.DERIVED)
    return united


@dataclass(frozen=True)
class _Phrases:
    """All beginnings of all aliases: the phrase's hash, its alias, and whether it is the whole."""

    hash: np.ndarray  # (P,) uint64
    alias: np.ndarray  # (P,) int32
    is_name: np.ndarray  # (P,) bool
    word: np.ndarray  # (P,) uint64, hash of the phrase's last word
    seed: int

    @property
    def whole_hash(self) -> np.ndarray:
        """The hash of each alias."""
        return self.hash[self.is_name]


def _phrases(aliases: pa.Array, seed: int) -> _Phrases:
    parts = list(_phrase_parts(aliases, seed))
    if not parts:
        none = np.zeros(0, np.uint64)
        parts = [(none, none.astype(np.int32), none.astype(bool), none)]
    phrase, alias, is_name, word = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Phrases(phrase, alias, is_name, word, seed)


def _phrase_parts(aliases: pa.Array, seed: int) -> Iterator[tuple[np.ndarray, ...]]:
    for first in range(0, len(aliases), _NAMES):
        token, bounds = _key_tokens(aliases.slice(first, _NAMES), seed)
        active = np.arange(len(bounds) - 1)
        phrase = np.zeros(len(active), np.uint64)
        length = 0
        while active.size:
            word = token[bounds[active] + length]
            phrase = lengthen(phrase, word, seed) if length else word
            length += 1
            is_name = bounds[active] + length == bounds[active + 1]
            yield phrase, (active + first).astype(np.int32), is_name, word
            active, phrase = active[~is_name], phrase[~is_name]


def _key_tokens(keys: pa.Array, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of the tokens of keys, and the bounds of each key in them."""
    points, edges = broken_codepoints(keys, " ")
    ends = np.flatnonzero(points == ord(" "))  # one space behind every token
    token_bounds = np.concatenate([[0], ends - np.arange(len(ends))])
    tokens = hash_segments(points[points != ord(" ")], token_bounds, seed)
    return tokens, np.searchsorted(ends, edges)


def _phrase_tables(phrases: _Phrases) -> dict[str, pa.Table]:
    order = np.argsort(phrases.hash, kind="stable")
    keys, first = np.unique(phrases.hash[order], return_index=True)
    is_name = phrases.is_name[order]
    value = np.where(is_name, phrases.alias[order].astype(np.uint32) + np.uint32(1), np.uint32(0))
    if len(keys):
        value = np.maximum.reduceat(value, first)
        value |= np.where(np.logical_or.reduceat(~is_name, first), LONGER, np.uint32(0))
    index = HashIndex.build(keys)
    return {
        "phrases": pa.table({"hash": keys, "value": value.astype(np.uint32)}),
        "phrase_buckets": pa.table({"start": narrow(index.buckets)}),
    }


def _word_tables(phrases: _Phrases) -> dict[str, pa.Table]:
    order = np.lexsort((phrases.alias, phrases.word))
    word, alias = phrases.word[order], phrases.alias[order]
    again = np.zeros(len(word), bool)
    again[1:] = (word[1:] == word[:-1]) & (alias[1:] == alias[:-1])
    word, alias = word[~again], alias[~again]
    keys, first = np.unique(word, return_index=True)
    return {
        "words": pa.table({"hash": keys, "start": narrow(first)}),
        "word_buckets": pa.table({"start": narrow(HashIndex.build(keys).buckets)}),
        "postings": pa.table({"alias": alias}),
    }
