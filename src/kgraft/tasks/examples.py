"""Examples: spans of texts with the classes they belong to, for tasks that classify them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Row = tuple[list[tuple[str, int, int]], list[str]]
"""The spans of an example, each a text with start and end, and its classes."""


@dataclass(frozen=True)
class Examples:
    """N examples of P spans each; the spans of an example may be in different texts."""

    texts: list[str]
    text: np.ndarray  # (N, P) index of the text
    start: np.ndarray  # (N, P) characters
    end: np.ndarray  # (N, P)
    classes: np.ndarray  # (N, C) bool

    def __len__(self) -> int:
        return len(self.text)

    @classmethod
    def of(cls, rows: list[Row], names: tuple[str, ...]) -> Examples:
        """Collect examples; names of classes that are not among `names` are left out."""
        index: dict[str, int] = {}  # of each text: one that several spans are in is read once
        texts_of_rows = ([span[0] for span in spans] for spans, _ in rows)
        text = [[index.setdefault(t, len(index)) for t in texts] for texts in texts_of_rows]
        bounds = np.array([[span[1:] for span in spans] for spans, _ in rows], np.int64)
        column = {name: n for n, name in enumerate(names)}
        classes = np.zeros((len(rows), len(names)), bool)
        for row, (_, own) in enumerate(rows):
            classes[row, [column[name] for name in own if name in column]] = True
        return cls(list(index), np.array(text), bounds[:, :, 0], bounds[:, :, 1], classes)

    def select(self, rows: np.ndarray) -> Examples:
        """Return some of the examples."""
        columns = (self.text[rows], self.start[rows], self.end[rows], self.classes[rows])
        return Examples(self.texts, *columns)


def mark_spans(text: str, head: list[int], tail: list[int]) -> tuple[str, list[tuple[int, int]]]:
    """Put signs around two spans, and return the text with the spans as they are in it.

    >>> mark_spans("a cat sat", [2, 5], [6, 9])
    ('a @ cat @ # sat #', [(4, 7), (12, 15)])
    """
    marked, last, spans = "", 0, [(0, 0), (0, 0)]
    for (start, end), sign, index in sorted([(head, "@", 0), (tail, "#", 1)]):
        marked += text[last:start] + sign + " "
        spans[index] = (len(marked), len(marked) + end - start)
        marked += text[start:end] + " " + sign
        last = end
    return marked + text[last:], spans
