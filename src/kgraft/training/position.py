"""Where a run stands: all the loop knows beside the trainee's state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Position:
    """A moment between two steps; the loss sums are those of the epoch under way."""

    epoch: int = 0  # finished ones
    done: int = 0  # batches of the epoch under way
    step: int = 0
    seconds: float = 0.0
    sums: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    best: float | None = None
    best_step: int | None = None
    latest: float | None = None
    stale: int = 0  # validations since the best one

    def after_step(self, losses: Mapping[str, float], seconds: float) -> Position:
        """Return the position one step later."""
        sums, counts = dict(self.sums), dict(self.counts)
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + float(value)
            counts[name] = counts.get(name, 0) + 1
        return replace(
            self,
            done=self.done + 1,
            step=self.step + 1,
            seconds=self.seconds + seconds,
            sums=sums,
            counts=counts,
        )

    def after_epoch(self, figure: float | None) -> Position:
        """Return the position at the start of the next epoch; None where nothing was validated."""
        start = replace(self, epoch=self.epoch + 1, done=0, sums={}, counts={})
        if figure is None:
            return start
        if math.isfinite(figure) and (self.best is None or figure > self.best):
            return replace(start, best=figure, best_step=self.step, latest=figure, stale=0)
        return replace(start, latest=figure, stale=self.stale + 1)

    def means(self) -> dict[str, float]:
        """Return the mean losses of the epoch under way."""
        return {name: total / self.counts[name] for name, total in self.sums.items()}
