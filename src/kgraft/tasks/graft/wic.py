"""Words in context: does a word mean the same in both sentences? (Pilehvar et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgraft.measure import ratio
from kgraft.tasks.classification import Classification
from kgraft.tasks.examples import Row
from kgraft.tasks.graft import GRAFT_TASKS


def _rows(line: Mapping[str, Any]) -> list[Row]:
    spans = [(line[f"text{n}"], *line[f"span{n}"]) for n in (1, 2)]
    return [(spans, ["same" if line["same"] else "different"])]


def _counts(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    right = (true & predicted).any(1)
    return np.stack([right, np.ones(len(right))], axis=1)


WIC = Classification("wic", ("different", "same"), _rows, _counts, ratio, "accuracy")
GRAFT_TASKS.register("wic")(WIC)
