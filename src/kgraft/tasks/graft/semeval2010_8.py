"""Relation classification: how two marked things of a sentence relate (SemEval-2010 task 8).

The official figure is the mean F1 of the nine relations, both directions of each taken together,
without Other; a relation predicted in the wrong direction is not right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgraft.measure import macro_f1
from kgraft.tasks.classification import Classification
from kgraft.tasks.examples import Row, mark_spans
from kgraft.tasks.graft import GRAFT_TASKS

NAME = "semeval2010-8"
RELATIONS = (
    "Cause-Effect", "Component-Whole", "Content-Container", "Entity-Destination", "Entity-Origin",
    "Instrument-Agency", "Member-Collection", "Message-Topic", "Product-Producer",
)  # fmt: skip
CLASSES = ("Other", *(f"{name}({way})" for name in RELATIONS for way in ("e1,e2", "e2,e1")))


def _rows(line: Mapping[str, Any]) -> list[Row]:
    text, spans = mark_spans(line["text"], line["head"], line["tail"])
    return [([(text, *span) for span in spans], [line["relation"]])]


def _counts(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return right, predicted and true of each of the nine relations, (N, 27)."""
    pairs = (len(true), len(RELATIONS), 2)
    true, predicted = true[:, 1:].reshape(pairs), predicted[:, 1:].reshape(pairs)
    counts = [(true & predicted).any(-1), predicted.any(-1), true.any(-1)]
    return np.stack(counts, axis=-1).reshape(len(true), -1).astype(np.float64)


SEMEVAL = Classification(NAME, CLASSES, _rows, _counts, macro_f1, "macro_f1")
GRAFT_TASKS.register(NAME)(SEMEVAL)
