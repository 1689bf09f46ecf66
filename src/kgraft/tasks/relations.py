"""Relation classification: how two marked things of a sentence relate (SemEval-2010 task 8).

The official figure is the mean F1 of the nine relations, both directions of each taken together,
without Other; a relation found in the wrong direction is not right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgraft.measure import macro_f1
from kgraft.tasks.examples import ClassTask, Row

RELATIONS = (
    "Cause-Effect", "Component-Whole", "Content-Container", "Entity-Destination", "Entity-Origin",
    "Instrument-Agency", "Member-Collection", "Message-Topic", "Product-Producer",
)  # fmt: skip
CLASSES = ("Other", *(f"{name}({way})" for name in RELATIONS for way in ("e1,e2", "e2,e1")))


def marked(text: str, head: list[int], tail: list[int]) -> tuple[str, list[tuple[int, int]]]:
    """Put signs around two spans, and return the text with where the spans now stand.

    >>> marked("a cat sat", [2, 5], [6, 9])
    ('a @ cat @ # sat #', [(4, 7), (12, 15)])
    """
    places = sorted([(head, "@", 0), (tail, "#", 1)])
    built, last, spans = "", 0, [(0, 0), (0, 0)]
    for (start, end), sign, which in places:
        built += text[last:start] + sign + " "
        spans[which] = (len(built), len(built) + end - start)
        built += text[start:end] + " " + sign
        last = end
    return built + text[last:], spans


def _row(line: Mapping[str, Any]) -> list[Row]:
    text, spans = marked(line["text"], line["head"], line["tail"])
    return [([(text, *span) for span in spans], [line["relation"]])]


def _counts(true: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return right, found and wanted of each of the nine relations, (N, 27)."""
    pairs = (len(true), len(RELATIONS), 2)
    true, found = true[:, 1:].reshape(pairs), found[:, 1:].reshape(pairs)
    three = [(true & found).any(-1), found.any(-1), true.any(-1)]
    return np.stack(three, axis=-1).reshape(len(true), -1).astype(np.float64)


SEMEVAL = ClassTask("semeval2010-8", CLASSES, False, _row, _counts, macro_f1, "macro_f1")
