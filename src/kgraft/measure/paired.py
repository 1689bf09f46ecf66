"""What knowledge adds: a figure with it on, with it off, and the difference with its interval.

A figure is a function of counts, summed over examples: hits and tries, or right, found and wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from kgraft.errors import BadInput

SAMPLES = 2000
AT_ONCE = 1 << 22  # numbers drawn at once

Figure = Callable[[np.ndarray], np.ndarray]
"""From sums of counts, (…, K), to figures, (…)."""


@dataclass(frozen=True)
class Difference:
    """A figure on and off, and the 95 % interval of the difference."""

    on: float
    off: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """How much more it is on than off."""
        return self.on - self.off

    def to_dict(self) -> dict[str, float]:
        """Return on, off, their difference, and the bounds of its interval."""
        return {**asdict(self), "difference": self.difference}

    def __str__(self) -> str:
        span = f"{self.low:+.4f} to {self.high:+.4f}"
        return f"on {self.on:.4f}  off {self.off:.4f}  difference {self.difference:+.4f} ({span})"


def ratio(counts: np.ndarray) -> np.ndarray:
    """Return hits over tries, of counts (…, 2): accuracy, or a mean."""
    ratios: np.ndarray = counts[..., 0] / np.maximum(counts[..., 1], 1e-12)
    return ratios


def f1(counts: np.ndarray) -> np.ndarray:
    """Return the F1 of counts (…, 3): right, found, wanted."""
    scores: np.ndarray = 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1e-12)
    return scores


def macro_f1(counts: np.ndarray) -> np.ndarray:
    """Return the mean F1 of classes, of counts (…, 3 C): right, found and wanted of each."""
    return f1(counts.reshape(*counts.shape[:-1], -1, 3)).mean(-1)


def perplexity(counts: np.ndarray) -> np.ndarray:
    """Return e to the mean loss, of counts (…, 2): summed loss, words."""
    return np.exp(ratio(counts))


def paired_difference(
    on: np.ndarray,
    off: np.ndarray,
    *,
    figure: Figure = ratio,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Difference:
    """Compare the same examples with and without something, by a paired bootstrap.

    `on` and `off` hold the counts of each example, (N, K), added up over the seeds of a training.
    Examples are drawn with replacement, the same ones on both sides; the interval lies between the
    2.5 % and 97.5 % quantiles of the differences.

    >>> hits = np.array([1, 1, 0, 1, 1, 0, 1, 1])
    >>> tries = np.ones(8)
    >>> print(paired_difference(np.stack([hits, tries], 1), np.stack([0 * hits, tries], 1)))
    on 0.7500  off 0.0000  difference +0.7500 (+0.3750 to +1.0000)
    """
    if on.shape != off.shape or not len(on):
        raise BadInput(f"{len(on)} examples on and {len(off)} off cannot be compared in pairs")
    both = np.hstack([on, off]).astype(np.float64)  # (N, 2 K)
    drawn = _resampled_sums(both, samples, seed).reshape(samples, 2, -1)
    low, high = np.quantile(figure(drawn[:, 0]) - figure(drawn[:, 1]), [0.025, 0.975])
    return Difference(float(figure(on.sum(0))), float(figure(off.sum(0))), float(low), float(high))


def _resampled_sums(counts: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """Return the sums (samples, K) of counts (N, K), each of N rows drawn with replacement."""
    generator, size = np.random.default_rng(seed), len(counts)
    step = max(AT_ONCE // size, 1)
    sums = []
    for first in range(0, samples, step):
        part = min(step, samples - first)
        sums.append(generator.multinomial(size, np.full(size, 1 / size), part) @ counts)
    return np.concatenate(sums)
