"""Parts of names: "Lakers" for "Los Angeles Lakers", "Tay-Sachs" for "Tay-Sachs Disease".

A part is found by a rare word that few names hold. It reaches as far as the words of the text and
of the name agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgraft.graph.names.stems import FUNCTION_WORDS
from kgraft.graph.names.words import ordinary_frequency

if TYPE_CHECKING:
    from kgraft.graph.names.aliases import Aliases

MOST_HOLDERS = 24  # names that hold a word that is worth a look
RARE = 3.6  # Zipf frequency of a word that may stand for a name
SHORTEST = 4  # letters of such a word


def find_parts(
    aliases: Aliases, words: Sequence[str], covered: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first word, last word (exclusive) and alias of every part of a name.

    No part begins at a word that is `covered` (N,), such as one of a longer name.
    """
    candidates = _rare_words(words, covered)
    holder_counts = aliases.count_holders([words[i] for i in candidates.tolist()])
    positions = candidates[(holder_counts > 0) & (holder_counts <= MOST_HOLDERS)]
    holders = {word: aliases.names_with(word) for word in {words[i] for i in positions.tolist()}}
    rows = {
        (*_agreement(words, position, name), alias)
        for position in positions.tolist()
        for alias, name in holders[words[position]]
    }
    columns = np.array(sorted(rows), np.int64).reshape(-1, 4)
    part = columns[:, 1] - columns[:, 0] < columns[:, 2]
    return columns[part, 0], columns[part, 1], columns[part, 3]


def _agreement(words: Sequence[str], position: int, name: list[str]) -> tuple[int, int, int]:
    """Return how far text and name agree around a word: first, last, and the words of the name.

    The word itself is not a function word, and none stands at the edges of a part: "Palestine" and
    not "of Palestine" for "State of Palestine".
    """
    at = name.index(words[position])
    first, last = position, position + 1
    while first > 0 and at - (position - first) > 0:
        if words[first - 1] != name[at - (position - first) - 1]:
            break
        first -= 1
    while last < len(words) and at + (last - position) < len(name):
        if words[last] != name[at + (last - position)]:
            break
        last += 1
    while words[first] in FUNCTION_WORDS:
        first += 1
    while words[last - 1] in FUNCTION_WORDS:
        last -= 1
    return first, last, len(name)


def _rare_words(words: Sequence[str], covered: np.ndarray) -> np.ndarray:
    """Return the positions of the long and rare words that are not covered."""
    long_enough = np.fromiter((len(word) >= SHORTEST for word in words), bool, len(words))
    candidates = np.flatnonzero(long_enough & ~covered)
    return candidates[ordinary_frequency([words[i] for i in candidates.tolist()]) < RARE]
