"""Folding: the form under which names are compared, with every offset kept.

A text is cut into tokens: runs of word characters, and every other visible character by itself.
Case, accents, compatibility forms (`ﬁ`, full-width letters), typographic quotes and dashes, and
invisible characters make no difference to a token. Scripts written without spaces (Han, Hiragana,
Hangul, Thai and their kin) give one token a character, so that a name can be found inside a run.
A token knows where it stands in the source, so nothing that folding does can shift an offset.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa

from kgraft.columns import broken_codepoints, codepoints, strings_from_codepoints
from kgraft.hashing import hash_segments

_CHARACTERS = 0x110000
_QUOTES = dict.fromkeys(map(ord, "‘’‚‛ʼʻ`´′"), "'") | dict.fromkeys(map(ord, "“”„‟«»″"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_ALIKE = _QUOTES | _DASHES
_PLAIN_TOKEN = re.compile(r"\w+|[^\w\x00-\x20\x7f]", re.ASCII)  # in ASCII, and "\uffff"
_CHUNK = 1 << 20  # characters folded at a time, so that a long text needs little memory


class Kind(IntEnum):
    """What a character does to the tokens; those from EXTEND on join what stands before them."""

    UNKNOWN = 0
    SPACE = 1  # ends a token and is dropped
    WORD = 2  # continues the word before it
    SOLO = 3  # is a token by itself
    EXTEND = 4  # a mark that is kept
    ACCENT = 5  # a mark that is dropped
    IGNORE = 6  # invisible; no part of the mention when it stands at the end


# Blocks written without spaces between words, and Hangul, whose particles join the noun.
_SOLO_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x115F),  # Hangul leading consonants
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x309F),  # Hiragana
    (0x3400, 0x9FFF),  # Han
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han compatibility
    (0x20000, 0x3FFFF),  # Han supplements
)
# Characters that leave no mark on the page, although their category does not say so.
_INVISIBLE_BLOCKS = (
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xE0100, 0xE01EF),  # variation selectors of Han
)


def _within(point: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= point <= high for low, high in blocks)


def _kind(point: int) -> Kind:
    character = chr(point)
    category = unicodedata.category(character)
    if character.isspace() or category == "Cc" or point == 0x200B:
        return Kind.SPACE
    if category == "Cf" or _within(point, _INVISIBLE_BLOCKS):
        return Kind.IGNORE
    if category[0] == "M":
        return Kind.ACCENT if 0x300 <= point <= 0x36F else Kind.EXTEND
    if 0x1160 <= point <= 0x11FF:  # Hangul vowels and trailing consonants
        return Kind.EXTEND
    if point not in _ALIKE and (category[0] in "LN" or category == "Pc"):
        return Kind.SOLO if _within(point, _SOLO_BLOCKS) else Kind.WORD
    return Kind.SOLO


def _fold(point: int) -> str:
    if 0xD800 <= point <= 0xDFFF:
        return "\ufffd"
    if point in _ALIKE:
        return _ALIKE[point]
    return _bare(_bare(chr(point)).casefold()) or chr(point)


def _bare(text: str) -> str:
    """Return the plain letters of a text: decomposed, without accents and spaces."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c for c in plain if not (c.isspace() or 0x300 <= ord(c) <= 0x36F))


class _Characters:
    """Kind and folded form of each character, worked out when it is first met."""

    def __init__(self) -> None:
        self.kind = np.zeros(_CHARACTERS, np.uint8)
        self.size = np.zeros(_CHARACTERS, np.uint8)  # characters of the folded form
        self.first = np.zeros(_CHARACTERS, np.uint32)
        self.rest: dict[int, str] = {}  # the folded form behind its first character
        self.learn(np.arange(128))

    def learn(self, points: np.ndarray) -> None:
        for point in points.tolist():
            kind = _kind(point)
            folded = "" if kind in (Kind.SPACE, Kind.ACCENT, Kind.IGNORE) else _fold(point)
            self.size[point] = len(folded)
            if folded:
                self.first[point] = ord(folded[0])
            if len(folded) > 1:
                self.rest[point] = folded[1:]
            self.kind[point] = kind

    def kinds(self, points: np.ndarray) -> np.ndarray:
        kinds = self.kind[points]
        if not kinds.all():
            self.learn(np.unique(points[kinds == Kind.UNKNOWN]))
            kinds = self.kind[points]
        return kinds

    def folded(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the folded characters and how many each point gave; kinds must be known."""
        sizes = self.size[points]
        if sizes.max(initial=0) <= 1:
            return self.first[points[sizes == 1]], sizes
        ends = np.cumsum(sizes, dtype=np.int64)
        folded = np.repeat(self.first[points], sizes)
        for position in np.flatnonzero(sizes > 1).tolist():
            end, rest = ends[position], self.rest[int(points[position])]
            folded[end - len(rest) : end] = [ord(c) for c in rest]
        return folded, sizes


_characters = _Characters()


@dataclass(frozen=True)
class Tokens:
    """Tokens of a text: where each stands in the source, and its folded characters."""

    start: np.ndarray  # (T,) int64, first character in the source
    end: np.ndarray  # (T,) int64, behind the last
    folded: np.ndarray  # (F,) uint32, the folded characters of all tokens
    bounds: np.ndarray  # (T + 1,) int64, token i is folded[bounds[i]:bounds[i+1]]

    def hashes(self, seed: int = 0) -> np.ndarray:
        """Return one hash per token."""
        return hash_segments(self.folded, self.bounds, seed)


def _base_kinds(kinds: np.ndarray) -> np.ndarray:
    """Return the kind of each character, of one that joins those before it that of the last."""
    joins = kinds >= Kind.EXTEND
    if not joins.any():
        return kinds
    base = np.maximum.accumulate(np.where(joins, -1, np.arange(len(kinds))))
    return np.where(base >= 0, kinds[base], Kind.SPACE)


def tokenise(points: np.ndarray) -> Tokens:
    """Cut characters (see `columns.codepoints`) into folded tokens."""
    kinds = _characters.kinds(points)
    effective = _base_kinds(kinds)
    follows_word = np.concatenate([[False], effective[:-1] == Kind.WORD])
    begins = (kinds == Kind.SOLO) | ((kinds == Kind.WORD) & ~follows_word)
    inside = effective != Kind.SPACE
    token = np.cumsum(begins) - 1  # of each character that is inside one
    count = int(begins.sum())

    visible = np.flatnonzero(inside & (kinds != Kind.IGNORE))
    last = np.searchsorted(token[visible], np.arange(count), side="right") - 1
    folded, sizes = _characters.folded(points[inside])
    bounds = np.zeros(count + 1, np.int64)
    per_token = np.bincount(token[inside], weights=sizes, minlength=count)
    bounds[1:] = np.cumsum(per_token)
    return Tokens(np.flatnonzero(begins), visible[last] + 1, folded, bounds)


@dataclass(frozen=True)
class HashedTokens:
    """Tokens of a text with one hash each; the folded characters are let go."""

    start: np.ndarray  # (T,) int64
    end: np.ndarray  # (T,) int64
    hash: np.ndarray  # (T,) uint64

    @classmethod
    def of(cls, text: str, seed: int = 0) -> HashedTokens:
        """Tokenise a text piece by piece, cutting at white space only."""
        points = codepoints(text)
        starts, ends, hashes = [], [], []
        for begin, stop in _pieces(points):
            tokens = tokenise(points[begin:stop])
            starts.append(tokens.start + begin)
            ends.append(tokens.end + begin)
            hashes.append(tokens.hashes(seed))
        return cls(np.concatenate(starts), np.concatenate(ends), np.concatenate(hashes))


@dataclass(frozen=True)
class WordTokens:
    """Tokens of a text with their folded forms as strings, for what needs to look at the words."""

    start: np.ndarray  # (T,) int64
    end: np.ndarray  # (T,) int64
    words: list[str]

    @classmethod
    def of(cls, text: str) -> WordTokens:
        """Tokenise a text."""
        if text.replace("\uffff", "").isascii():
            return cls._of_plain(text)
        tokens = tokenise(codepoints(text))
        words = strings_from_codepoints(tokens.folded, tokens.bounds).to_pylist()
        return cls(tokens.start, tokens.end, words)

    @classmethod
    def _of_plain(cls, text: str) -> WordTokens:
        """Tokenise a text of ASCII characters and `\uffff`, several times faster than others."""
        folded = text.lower().replace("`", "'")
        spans = [match.span() for match in _PLAIN_TOKEN.finditer(folded)]
        bounds = np.array(spans, np.int64).reshape(-1, 2)
        return cls(bounds[:, 0], bounds[:, 1], [folded[start:end] for start, end in spans])


def hash_words(words: Sequence[str], seed: int) -> np.ndarray:
    """Return the hashes of folded words under a seed, as tokens have them, (N,) uint64."""
    bounds = np.cumsum([0, *map(len, words)])
    return hash_segments(codepoints("".join(words)), bounds, seed)


def _pieces(points: np.ndarray) -> list[tuple[int, int]]:
    """Bounds of pieces of about _CHUNK characters that end before white space or at the end."""
    cuts = [0]
    while cuts[-1] + _CHUNK < len(points):
        tail = points[cuts[-1] + _CHUNK :]
        spaces = np.flatnonzero(_characters.kinds(tail[:_CHUNK]) == Kind.SPACE)
        if not spaces.size:
            break
        cuts.append(cuts[-1] + _CHUNK + int(spaces[0]))
    return list(zip(cuts, [*cuts[1:], len(points)], strict=True))


@dataclass(frozen=True)
class FoldedNames:
    """Many names folded at once: their tokens in one row, and where each name's tokens lie."""

    tokens: Tokens
    bounds: np.ndarray  # (N + 1,) int64, name i has tokens bounds[i]:bounds[i+1]

    @classmethod
    def of(cls, names: pa.Array) -> FoldedNames:
        """Fold a string array; a name of invisible characters only has no tokens."""
        points, edges = broken_codepoints(names, "\n")
        tokens = tokenise(points)
        return cls(tokens, np.searchsorted(tokens.start, edges))

    def keys(self) -> pa.Array:
        """Return each name's key: its folded tokens joined by single spaces."""
        sizes = np.diff(self.tokens.bounds)
        heads = self.bounds[:-1][np.diff(self.bounds) > 0]
        gap = np.ones(len(sizes), np.int64)  # a space before every token but a name's first
        gap[heads] = 0
        position = np.cumsum(gap + sizes) - sizes
        total = int((gap + sizes).sum())
        points = np.full(total, ord(" "), np.uint32)
        shift = np.repeat(position - self.tokens.bounds[:-1], sizes)
        points[np.arange(len(self.tokens.folded)) + shift] = self.tokens.folded
        starts = np.append(position - gap, total)
        return strings_from_codepoints(points, starts[self.bounds])


def fold_name(name: str) -> str:
    """Return the key under which a name is compared.

    >>> fold_name("  São  PAULO "), fold_name("AT&T"), fold_name("Straße")
    ('sao paulo', 'at & t', 'strasse')
    """
    tokens = tokenise(codepoints(name))
    return str(FoldedNames(tokens, np.array([0, len(tokens.start)])).keys()[0].as_py())
