"""Evaluation: links of annotated texts against their annotation, at one threshold or the best."""

from __future__ import annotations

import numpy as np

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Match, Mentions
from kgraft.graph.names import Form
from kgraft.link.decode import choose_links
from kgraft.link.knowledge import Knowledge
from kgraft.link.linking import LinkOptions, score_mentions
from kgraft.link.model import LinkModel
from kgraft.link.reading import SpanEncoder
from kgraft.link.score import compare, figures

THRESHOLDS = np.arange(1, 20) / 20
TEXTS = 64  # linked at a time


def score_texts(
    model: LinkModel,
    knowledge: Knowledge,
    texts: list[str],
    *,
    reader: SpanEncoder | None = None,
    options: LinkOptions | None = None,
) -> Mentions:
    """Return the scored mentions of many texts, part by part."""
    parts = []
    for first in range(0, max(len(texts), 1), TEXTS):
        part = texts[first : first + TEXTS]
        mentions = score_mentions(model, knowledge, part, reader=reader, options=options)
        parts.append(mentions.shifted(first))
    return Mentions.merge(*parts)[0]


def evaluate(
    mentions: Mentions, gold: AnnotatedTexts, threshold: float, *, partial: bool = False
) -> dict[str, float]:
    """Return precision, recall and F1 at a threshold.

    Where annotation is partial, a link of a proper name that touches no annotated mention does not
    count.
    """
    links = mentions.select(choose_links(mentions, threshold))
    comparison = compare(links, gold)
    counted = np.ones(len(links), bool)
    if partial:
        counted = comparison.touches | ~proper_names(links)
    return figures(comparison, counted)


def proper_names(links: Mentions) -> np.ndarray:
    """Return which links are by a name that is written with capitals, (L,)."""
    best = links.best
    capitals = (links.forms[best] & (Form.UPPER | Form.MIXED)) > 0
    return (links.match[best] <= Match.NAME) & capitals


def best_threshold(
    mentions: Mentions,
    gold: AnnotatedTexts,
    *,
    partial: bool,
    watch: str = "weak_f1",
    near: float | None = None,
) -> dict[str, float]:
    """Return the figures at the threshold with the best F1, and that threshold.

    With `near`, it is the threshold nearest to that one whose F1 is within one standard error of
    the best: a handful of mentions cannot decide between thresholds.
    """
    tried = [
        {**evaluate(mentions, gold, float(t), partial=partial), "threshold": float(t)}
        for t in THRESHOLDS
    ]
    best = max(tried, key=lambda values: (values[watch], values["strong_f1"]))
    if near is None:
        return best
    least = best[watch] - standard_error(best[watch], len(gold.mentions))
    as_good = [values for values in tried if values[watch] >= least]
    return min(as_good, key=lambda values: (abs(values["threshold"] - near), -values[watch]))


def standard_error(ratio: float, count: int) -> float:
    """Return the standard error of a ratio over so many mentions, such as F1.

    >>> round(standard_error(0.9, 100), 3)
    0.03
    """
    return float(np.sqrt(ratio * (1 - ratio) / max(count, 1)))
