"""Adagrad and Adam on a table, completely or for the rows that a batch touched.

A batch with some thousand negatives touches a small part of a large table. Its other rows have no
gradient: Adagrad leaves them as they are anyway, Adam is made to (“lazy” Adam: their momentum
waits until they are touched again).
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

EPSILON = 1e-10
DECAY, SQUARE_DECAY, ADAM_EPSILON = 0.9, 0.999, 1e-8


class Optimiser(Protocol):
    """What updates one table."""

    def state(self) -> dict[str, Tensor]:
        """Return what is remembered between updates."""

    def update(self, table: Tensor, gradient: Tensor, rows: Tensor | None, rate: float) -> None:
        """Change the table in place: all of it, or `rows`, each once."""


class Adagrad:
    """Steps shrink with the squares a coordinate has summed up: good for rare entities."""

    def __init__(self, table: Tensor) -> None:
        self.squares = torch.zeros_like(table)

    def state(self) -> dict[str, Tensor]:
        """Return the sums of squares."""
        return {"squares": self.squares}

    def update(self, table: Tensor, gradient: Tensor, rows: Tensor | None, rate: float) -> None:
        """Take x ← x − rate · g / (√Σg² + ε)."""
        squares = _rows(self.squares, rows).addcmul_(gradient, gradient)
        moved = _rows(table, rows).addcdiv_(gradient, squares.sqrt().add_(EPSILON), value=-rate)
        if rows is not None:
            self.squares.index_copy_(0, rows, squares)
            table.index_copy_(0, rows, moved)


class Adam:
    """Steps of nearly one size, along a moving mean of the gradients."""

    def __init__(self, table: Tensor) -> None:
        self.mean, self.square = torch.zeros_like(table), torch.zeros_like(table)
        self.steps = torch.zeros(1, dtype=torch.int64)

    def state(self) -> dict[str, Tensor]:
        """Return the moving means and the number of updates."""
        return {"mean": self.mean, "square": self.square, "steps": self.steps}

    def update(self, table: Tensor, gradient: Tensor, rows: Tensor | None, rate: float) -> None:
        """Take x ← x − rate · m̂ / (√v̂ + ε)."""
        self.steps += 1
        steps = int(self.steps)
        rate /= 1 - DECAY**steps
        width = (1 - SQUARE_DECAY**steps) ** 0.5
        mean, square = (_rows(state, rows) for state in (self.mean, self.square))
        mean.lerp_(gradient, 1 - DECAY)
        square.mul_(SQUARE_DECAY).addcmul_(gradient, gradient, value=1 - SQUARE_DECAY)
        spread = square.sqrt().div_(width).add_(ADAM_EPSILON)
        moved = _rows(table, rows).addcdiv_(mean, spread, value=-rate)
        if rows is not None:
            for full, part in ((self.mean, mean), (self.square, square), (table, moved)):
                full.index_copy_(0, rows, part)


def _rows(table: Tensor, rows: Tensor | None) -> Tensor:
    """Return the table itself, or a copy of some rows."""
    return table if rows is None else table.index_select(0, rows)


OPTIMISERS: dict[str, type[Adagrad] | type[Adam]] = {"adagrad": Adagrad, "adam": Adam}
