"""Nested mentions: the longest name wins over its head noun.

"hereditary non-polyposis colorectal cancer" is not "colorectal cancer". A longer mention that means
one entity alone rules out other entities inside it. An exact name does so whatever its score; the
same entity may still be meant inside ("United States" in "the United States"). A variant or
rewording may be a coincidence, as "city of Tartu" or "south of Sudan". It wins over names of other
entities in small letters, such as a head noun, and takes over what speaks for a link there:

    s' = s + (1 − s) · max s_inner        s_inner' = s_inner · (1 − s')

that is, either it or what is inside it is a link, and if it is one, the others are not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from kgraft.graph.mentions import Match, Mentions

IN_OTHER_WORDS = (Match.VARIANT, Match.REWORDED, Match.SHORTENED)


def inside_unique_name(mentions: Mentions) -> np.ndarray:
    """Return which mentions lie in a longer name that means one other entity alone, (M,)."""
    inside = np.zeros(len(mentions), bool)
    named = mentions.sizes > 0
    likeliest = np.full(len(mentions), -1)
    likeliest[named] = mentions.entity[mentions.best[named]]
    unique = np.flatnonzero((mentions.sizes == 1) & (mentions.kind <= Match.NAME))
    for longer, inner in nested_pairs(mentions, unique):
        inside[inner] |= likeliest[inner] != likeliest[longer]
    return inside


def prefer_longer(mentions: Mentions, texts: Sequence[str]) -> Mentions:
    """Return mentions with the scores of nested ones changed in favour of the longer, as above."""
    best = mentions.best_score
    outer = np.flatnonzero((mentions.sizes == 1) & np.isin(mentions.kind, IN_OTHER_WORDS))
    pairs = [pair for pair in nested_pairs(mentions, outer) if _is_head(mentions, texts, *pair)]
    if not pairs:
        return mentions
    likeliest = np.zeros_like(best)  # of those inside
    for longer, inner in pairs:
        likeliest[longer] = max(likeliest[longer], best[inner])
    raised = np.where(best > 0, best + (1 - best) * likeliest, 0)  # 0 was ruled out before
    factor = raised / np.maximum(best, 1e-9)
    for longer, inner in pairs:
        factor[inner] = min(factor[inner], 1 - raised[longer])
    return mentions.with_scores(mentions.score * factor[mentions.owner])


def _is_head(mentions: Mentions, texts: Sequence[str], longer: int, inner: int) -> bool:
    """Tell whether a mention in a longer one is in small letters and means another entity."""
    low, high = mentions.bounds[inner], mentions.bounds[inner + 1]
    if low == high or mentions.match[low] == Match.PINNED:
        return False
    surface = texts[mentions.text[inner]][mentions.start[inner] : mentions.end[inner]]
    return surface.islower() and mentions.entity[low] != mentions.entity[mentions.bounds[longer]]


def nested_pairs(mentions: Mentions, outer: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the pairs of an outer mention and one that lies in it; mentions are in order."""
    text, start, end = (a.tolist() for a in (mentions.text, mentions.start, mentions.end))
    spans = list(zip(text, start, strict=True))
    for row in outer.tolist():
        begin = bisect_left(spans, spans[row])
        stop = bisect_left(spans, (text[row], end[row]), begin)
        for other in range(begin, stop):
            if other != row and end[other] <= end[row]:
                yield row, other
