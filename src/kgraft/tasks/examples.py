"""Examples: spans of texts with the classes they belong to, for tasks that classify them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.corpus import read_json_lines
from kgraft.errors import BadInput
from kgraft.json_text import parse_json
from kgraft.measure.paired import Figure

Counts = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From true and found classes, (N, C) bool each, to the counts of each example, (N, K)."""


@dataclass(frozen=True)
class Examples:
    """N examples of P spans each; the spans of an example may lie in different texts."""

    texts: list[str]
    text: np.ndarray  # (N, P) number of the text
    start: np.ndarray  # (N, P) characters
    end: np.ndarray  # (N, P)
    classes: np.ndarray  # (N, C) bool

    def __len__(self) -> int:
        return len(self.text)

    def part(self, rows: np.ndarray) -> Examples:
        """Return some of the examples."""
        columns = (self.text[rows], self.start[rows], self.end[rows], self.classes[rows])
        return Examples(self.texts, *columns)


Row = tuple[list[tuple[str, int, int]], list[str]]
"""The spans of an example, each a text with start and end, and its classes."""


@dataclass(frozen=True)
class ClassTask:
    """A task that classifies spans."""

    name: str
    classes: tuple[str, ...]
    several: bool  # whether an example may have several classes
    row: Callable[[Mapping[str, Any]], list[Row]]  # from a line of the file
    counts: Counts
    figure: Figure
    metric: str

    def read(self, path: Path) -> Examples:
        """Read a file of the task; a bad line is refused with its number."""
        rows: list[Row] = []
        for number, line in read_json_lines(path):
            try:
                rows += self.row(parse_json(line))
            except (ValueError, LookupError, TypeError) as error:
                reason = f"no example of {self.name} ({type(error).__name__}: {error})"
                raise BadInput(reason, file=str(path), line=number) from error
        if not rows:
            raise BadInput(f"holds no example of {self.name}", file=str(path))
        return self._collected(rows)

    def _collected(self, rows: list[Row]) -> Examples:
        number: dict[str, int] = {}  # of each text: one that several spans are in is read once
        said = ([span[0] for span in spans] for spans, _ in rows)
        text = np.array([[number.setdefault(t, len(number)) for t in texts] for texts in said])
        bounds = np.array([[span[1:] for span in spans] for spans, _ in rows], np.int64)
        place = {name: column for column, name in enumerate(self.classes)}
        classes = np.zeros((len(rows), len(self.classes)), bool)
        for row, (_, names) in enumerate(rows):
            classes[row, [place[name] for name in names if name in place]] = True
        return Examples(list(number), text, bounds[:, :, 0], bounds[:, :, 1], classes)
