"""Nested mentions: the longest name wins over its head noun.

"hereditary non-polyposis colorectal cancer" is not "colorectal cancer". A longer mention that means
one entity alone rules out other entities inside it. An exact name does so whatever its score. A
variant or rewording may be a coincidence, as "city of Tartu" or "south of Sudan". It wins over
names of other entities in small letters, such as a head noun, and takes over what speaks for a link
there:

    s' = s + (1 − s) · max s_inner        s_inner' = s_inner · (1 − s')

that is, either it or what is inside it is a link, and if it is one, the others are not.

The same holds where both most likely mean the same entity, in whatever letters: "hereditary
hemochromatosis" and "hemochromatosis". An article is not part of a name, "the United States",
unless the entity is labelled so, "The Beatles".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from kgraft.graph import Match, Mentions
from kgraft.graph.names import Form

IN_OTHER_WORDS = (Match.VARIANT, Match.REWORDED, Match.SHORTENED)
WHOLE_NAMES = (Match.ABBREVIATION, Match.NAME, *IN_OTHER_WORDS)
ARTICLES = frozenset(["the", "a", "an"])


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
    return _prefer_longer_variants(_prefer_longer_of_same(mentions, texts), texts)


def _prefer_longer_of_same(mentions: Mentions, texts: Sequence[str]) -> Mentions:
    """Move scores to the longer of nested mentions that most likely mean the same entity."""
    outer = np.flatnonzero((mentions.sizes > 0) & np.isin(mentions.kind, WHOLE_NAMES))
    pairs = [pair for pair in nested_pairs(mentions, outer) if _mean_the_same(mentions, *pair)]
    if not pairs:
        return mentions
    score = mentions.score.astype(np.float64)
    length = mentions.end - mentions.start
    for longer, inner in sorted(pairs, key=lambda pair: (length[pair[0]], pair)):
        wins, loses = longer, inner
        if _adds_article(mentions, texts, longer, inner):
            wins, loses = inner, longer
        _move_score(score, mentions.bounds, wins, loses)
    return mentions.with_scores(score)


def _move_score(score: np.ndarray, bounds: np.ndarray, wins: int, loses: int) -> None:
    """Let the best candidate of one mention gain what speaks for the other, in place.

    The scores of the candidates of a mention and of "none" still sum to 1.
    """
    first, last = bounds[wins], bounds[wins + 1]
    before = score[first]
    score[first] += (1 - before) * score[bounds[loses]]
    if before < 1:
        score[first + 1 : last] *= (1 - score[first]) / (1 - before)
    score[bounds[loses] : bounds[loses + 1]] *= 1 - score[first]


def _mean_the_same(mentions: Mentions, longer: int, inner: int) -> bool:
    """Tell whether two spans, one truly longer, are likeliest to mean one entity."""
    if not mentions.sizes[inner] or mentions.match[mentions.bounds[inner]] == Match.PINNED:
        return False
    rows = mentions.bounds[[longer, inner]]
    length = (mentions.end - mentions.start)[[longer, inner]]
    one, other = mentions.entity[rows]
    return bool(one == other and length[0] > length[1] and mentions.score[rows].all())


def _adds_article(mentions: Mentions, texts: Sequence[str], longer: int, inner: int) -> bool:
    """Tell whether the longer mention is the inner one with an article that is not in its label."""
    text, start = texts[mentions.text[longer]], mentions.start
    before = text[start[longer] : start[inner]].strip().casefold()
    is_label = mentions.forms[mentions.bounds[longer]] & Form.LABEL
    return bool(mentions.end[longer] == mentions.end[inner] and before in ARTICLES and not is_label)


def _prefer_longer_variants(mentions: Mentions, texts: Sequence[str]) -> Mentions:
    """Let variants and rewordings win over other entities inside them in small letters."""
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
