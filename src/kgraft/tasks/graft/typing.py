"""Entity typing: the coarse types of a mention in its sentence (Choi et al. 2018; Open Entity)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgraft.measure import f1
from kgraft.tasks.classification import Classification
from kgraft.tasks.examples import Row
from kgraft.tasks.graft import GRAFT_TASKS

TYPES = (
    "person", "group", "organization", "location", "entity", "time", "object", "event", "place",
)  # fmt: skip


def _rows(line: Mapping[str, Any]) -> list[Row]:
    return [([(line["text"], m["start"], m["end"])], m["types"]) for m in line["mentions"]]


def _counts(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return right, predicted and true types of each mention, (N, 3)."""
    counts = [(true & predicted).sum(1), predicted.sum(1), true.sum(1)]
    return np.stack(counts, axis=1).astype(np.float64)


TYPING = Classification("typing", TYPES, _rows, _counts, f1, "micro_f1", several=True)
GRAFT_TASKS.register("typing")(TYPING)
