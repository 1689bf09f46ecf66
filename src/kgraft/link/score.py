"""How good links are: precision, recall and F1 against annotated mentions.

Weak: the right entity, and the spans overlap. Strong: the right entity, and the same span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.arrays import expand
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import IGNORED, Mentions


@dataclass(frozen=True)
class Comparison:
    """Which links are right, and which annotated mentions are linked right."""

    touches: np.ndarray  # (L,) bool: overlaps an annotated mention
    ignored: np.ndarray  # (L,) bool: overlaps a span that is neither right nor wrong
    weak: np.ndarray  # (L,) bool
    strong: np.ndarray  # (L,) bool
    weak_recalled: np.ndarray  # (M,) bool: some link is right, weakly
    strong_recalled: np.ndarray  # (M,) bool
    judged: np.ndarray  # (M,) bool: the mention counts for recall


def compare(links: Mentions, annotated: AnnotatedTexts) -> Comparison:
    """Compare links, each with its best candidate first, with annotated mentions."""
    mentions, gold = annotated.mentions, annotated.gold
    link, mention = overlapping(links, mentions)
    same = links.entity[links.best][link] == gold[mention]
    exact = links.start[link] == mentions.start[mention]
    exact &= links.end[link] == mentions.end[mention]
    ignored = gold[mention] == IGNORED
    weak = _flags(len(links), link[same])
    return Comparison(
        touches=_flags(len(links), link[~ignored]),
        ignored=_flags(len(links), link[ignored]) & ~weak,
        weak=weak,
        strong=_flags(len(links), link[same & exact]),
        weak_recalled=_flags(len(gold), mention[same]),
        strong_recalled=_flags(len(gold), mention[same & exact]),
        judged=gold != IGNORED,
    )


def _flags(count: int, rows: np.ndarray) -> np.ndarray:
    flags = np.zeros(count, bool)
    flags[rows] = True
    return flags


def overlapping(links: Mentions, mentions: Mentions) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of a link and a mention that overlap."""
    order = np.argsort(mentions.text, kind="stable")
    text = mentions.text[order]
    first, last = (np.searchsorted(text, links.text, side=side) for side in ("left", "right"))
    link, position = expand(first, last)
    mention = order[position]
    overlap = links.start[link] < mentions.end[mention]
    overlap &= mentions.start[mention] < links.end[link]
    return link[overlap], mention[overlap]


def figures(comparison: Comparison, counted: np.ndarray) -> dict[str, float]:
    """Return precision, recall and F1, weak and strong, over the links that count.

    Precision is of links and recall of mentions: two right links in one mention recall it once.
    """
    kinds = {
        "weak": (comparison.weak, comparison.weak_recalled),
        "strong": (comparison.strong, comparison.strong_recalled),
    }
    counted = counted & ~comparison.ignored
    judged = comparison.judged
    values = {}
    for name, (right, recalled) in kinds.items():
        precision = int((right & counted).sum()) / max(int(counted.sum()), 1)
        recall = int((recalled & judged).sum()) / max(int(judged.sum()), 1)
        values[f"{name}_precision"], values[f"{name}_recall"] = precision, recall
        values[f"{name}_f1"] = 2 * precision * recall / (precision + recall) if recall else 0.0
    return values
