"""How good links are: precision, recall and F1 against marked mentions.

Weak: the right entity, and the spans overlap. Strong: the right entity, and the same span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.graph.adjacency import expand
from kgraft.graph.annotated import Annotated


@dataclass(frozen=True)
class Found:
    """Links as arrays: spans of texts with their entity and score, in order."""

    text: np.ndarray
    start: np.ndarray
    end: np.ndarray
    entity: np.ndarray
    score: np.ndarray
    named: np.ndarray  # bool: the span is a name, written like one, of the entity
    candidates: np.ndarray  # (L, K) entities, best first

    def take(self, rows: np.ndarray) -> Found:
        """Return some of the links."""
        return Found(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class Matched:
    """Which links are right, and which mentions are found."""

    touches: np.ndarray  # (L,) bool: overlaps a mention
    weak: np.ndarray  # (L,) bool
    strong: np.ndarray  # (L,) bool
    found: np.ndarray  # (M,) bool: some link is right, weakly
    found_exactly: np.ndarray  # (M,) bool: some link is right, strongly


def match(links: Found, marked: Annotated) -> Matched:
    """Compare links with mentions."""
    link, mention = overlapping(links, marked)
    same = links.entity[link] == marked.entity[mention]
    exact = (links.start[link] == marked.start[mention]) & (links.end[link] == marked.end[mention])
    count = len(links.text)
    return Matched(
        touches=_which(count, link),
        weak=_which(count, link[same]),
        strong=_which(count, link[same & exact]),
        found=_which(len(marked.text), mention[same]),
        found_exactly=_which(len(marked.text), mention[same & exact]),
    )


def _which(count: int, numbers: np.ndarray) -> np.ndarray:
    flags = np.zeros(count, bool)
    flags[numbers] = True
    return flags


def overlapping(links: Found, marked: Annotated) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of a link and a mention that overlap."""
    order = np.argsort(marked.text, kind="stable")
    text = marked.text[order]
    first, last = (np.searchsorted(text, links.text, side=side) for side in ("left", "right"))
    link, place = expand(first, last)
    mention = order[place]
    over = (links.start[link] < marked.end[mention]) & (marked.start[mention] < links.end[link])
    return link[over], mention[over]


def figures(matched: Matched, counted: np.ndarray) -> dict[str, float]:
    """Return precision, recall and F1, weak and strong, over the links that count.

    Precision is of links and recall of mentions: two right links in one mention find it once.
    """
    kinds = {
        "weak": (matched.weak, matched.found),
        "strong": (matched.strong, matched.found_exactly),
    }
    named = {}
    for name, (right, found) in kinds.items():
        precision = int((right & counted).sum()) / max(int(counted.sum()), 1)
        recall = int(found.sum()) / max(len(found), 1)
        named[f"{name}_precision"], named[f"{name}_recall"] = precision, recall
        named[f"{name}_f1"] = 2 * precision * recall / (precision + recall) if recall else 0.0
    return named
