"""Entity typing: the coarse types of a mention in its sentence (Choi et al. 2018; Open Entity)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgraft.measure import f1
from kgraft.tasks.examples import ClassTask, Row

TYPES = (
    "person", "group", "organization", "location", "entity", "time", "object", "event", "place",
)  # fmt: skip


def _row(line: Mapping[str, Any]) -> list[Row]:
    return [([(line["text"], m["start"], m["end"])], m["types"]) for m in line["mentions"]]


def _counts(true: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.stack([(true & found).sum(1), found.sum(1), true.sum(1)], axis=1).astype(np.float64)


TYPING = ClassTask("typing", TYPES, True, _row, _counts, f1, "micro_f1")
