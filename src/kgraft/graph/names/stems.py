"""Variants of names: the same words inflected, reordered, hyphenated or joined by "of".

Two phrases are variants of one another when their content words have the same stems, in any order:
"cancer of the breast", "Breast Cancers" and "breast-cancer"; "tumour" and "tumors"; "ischaemic" and
"ischemia". A phrase's key is the sum of the hashes of its stems, so that the keys of all phrases of
a text come from one running sum.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import Stemmer

from kgraft.arrays import expand
from kgraft.columns import arrow_strings, flat, list_rows, narrow, numbers
from kgraft.hashing import hash_strings
from kgraft.result_cache import ResultCache

FUNCTION_WORDS = frozenset(
    ["a", "an", "and", "by", "due", "for", "from", "in", "of", "on", "or", "the", "to", "with"]
)
LONGEST = 8  # words of a phrase that is looked up
KEYS_VERSION = 2  # of the keys that a graph keeps; those of another version are made again
_SEED = 7
_SHORTEST = 4  # letters of a word that is inflected
_BRITISH = re.compile(  # oedema, foetus, tumour; but not heroes, poets, four
    r"a(?=e(?:[acdmt]|s[a-z]))|o(?=e(?:a|d[aei]|s[ot]|t[aiou]))|(?<=[a-z]{3}o)u(?=rs?$|r[ae])"
)
_PREFIX = re.compile(  # that some write with a hyphen
    r"(anti|auto|cardio|hyper|hypo|inter|micro|multi|neuro|non|post|pre|pseudo|sub)(?=[a-z]{4})"
)
_GREEK = (
    (re.compile(r"(?:eps(?:y|ies)|eptics?)$"), "eps"),
    (re.compile(r"([aeoy])(?:sis|se[sd]?|sing|tics?|tically)$"), r"\1s"),
    (re.compile(r"(?:ias?|ics?|ically|ians?)$"), "i"),
)
_stemmer = Stemmer.Stemmer("english")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a folded word; function words and signs have none.

    >>> [stem(w) for w in ("tumours", "tumor", "anaemic", "anemia", "thrombotic", "thrombosis")]
    ['tumor', 'tumor', 'anemi', 'anemi', 'thrombos', 'thrombos']
    >>> stem("of"), stem("-"), stem("x1")
    ('', '', 'x1')
    """
    if word in FUNCTION_WORDS or not any(map(str.isalnum, word)):
        return ""
    if len(word) < _SHORTEST or not word.isalpha() or not word.isascii():
        return word
    word = _BRITISH.sub("", word)
    for ending, replacement in _GREEK:
        changed = ending.sub(replacement, word)
        if changed != word and len(changed) >= _SHORTEST:
            return changed
    return str(_stemmer.stemWord(word))


def split_prefix(stemmed: str) -> tuple[str, str]:
    """Return a prefix that is also written with a hyphen, and the rest of a stem.

    >>> split_prefix(stem("nonpolyposis")), split_prefix(stem("polyposis"))
    (('non', 'polypos'), ('', 'polypos'))
    """
    match = _PREFIX.match(stemmed)
    return (match[1], stemmed[match.end(1) :]) if match else ("", stemmed)


def stem_hashes(words: Sequence[str]) -> np.ndarray:
    """Return one hash per word, (N,) uint64; 0 where a word has no stem.

    The hash of a word with a prefix is that of both parts together, as if a hyphen stood between
    them: "nonpolyposis" is "non-polyposis". Whoever changes a hash raises `KEYS_VERSION`.
    """
    parts = [split_prefix(stem(word)) for word in words]
    prefix, rest = (_hashes([part[side] for part in parts]) for side in (0, 1))
    return prefix + rest


def _hashes(stems: list[str]) -> np.ndarray:
    hashes = hash_strings(arrow_strings(stems), _SEED)
    return np.where([bool(s) for s in stems], hashes, np.uint64(0)).astype(np.uint64)


_known_hashes = ResultCache[str, int](lambda words: stem_hashes(words).tolist())


def name_stems(names: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the stems of folded names: the name that each belongs to, and its hash, (W,) each."""
    words = pc.split_pattern(flat(names), " ")
    row, word = list_rows(pa.chunked_array([words]))
    distinct = pc.dictionary_encode(flat(word))
    hashes = stem_hashes(distinct.dictionary.to_pylist())[numbers(distinct.indices)]
    stemmed = hashes != 0
    return row[stemmed], hashes[stemmed]


def build_variants(name: np.ndarray, stem: np.ndarray, names: int) -> pa.Table:
    """Return the table from keys to the names that have them: hash, alias.

    `name` and `stem` (W,) are the stems of all `names` names, see `name_stems`.
    """
    keys = np.zeros(names, np.uint64)
    np.add.at(keys, name, stem)
    sizes = np.bincount(name, minlength=names)
    usable = np.flatnonzero((sizes > 0) & (sizes <= LONGEST))
    order = usable[np.argsort(keys[usable], kind="stable")]
    return pa.table({"hash": keys[order], "alias": narrow(order)})


@dataclass(frozen=True)
class Phrases:
    """The phrases of a text that begin and end with a stem, with their keys."""

    words: Sequence[str]  # (N,) of the text, folded
    barrier: np.ndarray  # (N,) bool: no phrase runs across the word
    hashes: np.ndarray  # (N,) uint64 of their stems, 0 where a word has none
    first: np.ndarray  # (P,) first word
    last: np.ndarray  # (P,) last word, exclusive
    key: np.ndarray  # (P,) uint64

    @classmethod
    def of(cls, words: Sequence[str], barrier: np.ndarray) -> Phrases:
        """Find the phrases of a text; a `barrier` (N,) is, for example, a full stop."""
        hashes = np.array(_known_hashes(words), np.uint64)
        total = np.concatenate([[np.uint64(0)], np.cumsum(hashes, dtype=np.uint64)])
        blocked = np.concatenate([[0], np.cumsum(barrier)])
        content = np.flatnonzero(hashes != 0)
        lengths = np.arange(1, LONGEST + 3)[:, None]
        last = np.minimum(content + lengths, len(hashes))  # (lengths, N)
        ends_well = (hashes[last - 1] != 0) & (blocked[last] == blocked[content])
        length, position = np.nonzero(ends_well & (last == content + lengths))
        first, last = content[position], last[length, position]
        return cls(words, barrier, hashes, first, last, total[last] - total[first])

    def take(self, rows: np.ndarray) -> Phrases:
        """Return some of the phrases."""
        return replace(self, first=self.first[rows], last=self.last[rows], key=self.key[rows])


class VariantIndex:
    """Names by their keys, memory-mapped."""

    def __init__(self, table: pa.Table) -> None:
        self._keys, self._alias = numbers(table["hash"]), numbers(table["alias"])

    def find(self, phrases: Phrases) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first word, last word (exclusive) and alias of every phrase that is a variant."""
        return self.look_up(phrases.first, phrases.last, phrases.key)

    def look_up(
        self, first: np.ndarray, last: np.ndarray, key: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first word, last word and alias of the spans whose key is that of a name."""
        low = np.searchsorted(self._keys, key, side="left")
        if not len(self._keys):
            return first[:0], last[:0], low[:0]
        is_key = self._keys[np.minimum(low, len(self._keys) - 1)] == key
        first, last, key, low = first[is_key], last[is_key], key[is_key], low[is_key]
        span, row = expand(low, np.searchsorted(self._keys, key, side="right"))
        return first[span], last[span], self._alias[row].astype(np.int64)
