"""Settings of graph attention, and of how a memory is refreshed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kgraft.errors import BadInput
from kgraft.settings import FRACTION, SIZE, Settings, setting

COMPOSITIONS = ("sum", "mlp")


@dataclass(frozen=True)
class GraphAttentionSettings(Settings):
    """The sizes of a graph attention."""

    layers: int = setting(2, "Layers, one per hop that is looked at.", (1, 64))
    heads: int = setting(4, "Attention heads.", (1, 1 << 16))
    composition: str = setting(
        "sum", "How a neighbour and a relation are composed (f).", choices=COMPOSITIONS
    )
    dropout: float = setting(0.1, "Dropout.", FRACTION)


@dataclass(frozen=True)
class RefreshSettings(Settings):
    """When a memory is refreshed, and how much of the old stays."""

    first: int = setting(10, "Steps before the first refresh.", SIZE)
    factor: int = setting(2, "What the interval grows by.", SIZE)
    every: int = setting(3, "Refreshes after which the interval grows.", SIZE)
    most: int = setting(500, "Steps between two refreshes, at most.", SIZE)
    momentum: float = setting(0.8, "Fraction of the old vectors that stays.", FRACTION)

    def check(self) -> None:
        """Refuse a momentum that never lets anything new in."""
        if self.momentum == 1:
            raise BadInput("momentum is 1", remedy="give 0 or more, below 1")

    def interval(self, refreshes: int) -> int:
        """Return T(i), the steps between refresh i and the next.

        >>> [RefreshSettings().interval(i) for i in range(7)]
        [10, 10, 10, 20, 20, 20, 40]
        """
        return min(self.first * self.factor ** min(refreshes // self.every, 64), self.most)

    def before(self, step: int) -> int:
        """Return how many refreshes there are before a step, counted from 0."""
        count = 0
        for at in self.steps():
            if at > step:
                return count
            count += 1
        return count

    def steps(self) -> Iterator[int]:
        """Yield the steps before which the memory is refreshed, without end."""
        step = refreshes = 0
        while True:
            step += self.interval(refreshes)
            refreshes += 1
            yield step
