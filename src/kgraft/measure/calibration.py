"""Scores as calibrated probabilities, and how well calibrated they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgraft.errors import BadInput

_GRADIENT = 1e-10  # a gradient this short ends the search


@dataclass(frozen=True)
class Logistic:
    """A logistic model: p(x) = 1 / (1 + exp(−(w·x + b)))."""

    weights: tuple[float, ...]
    bias: float

    def probability(self, features: np.ndarray) -> np.ndarray:
        """Return the probability of each row of features: (n, F) to (n,).

        >>> Logistic((2.0,), -1.0).probability(np.array([[0.5]])).tolist()
        [0.5]
        """
        return _sigmoid(np.asarray(features, np.float64) @ np.array(self.weights) + self.bias)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as it is stored."""
        return {"weights": list(self.weights), "bias": self.bias}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Logistic:
        """Read a stored model."""
        return cls(tuple(float(w) for w in stored["weights"]), float(stored["bias"]))


def fit_logistic(features: np.ndarray, labels: np.ndarray, *, ridge: float = 1e-3) -> Logistic:
    """Fit a logistic model to features (n, F) and labels (n,) of 0 or 1.

    Minimised is the mean log loss plus ridge/2 · ‖w‖², w being the weights of features brought to
    mean 0 and deviation 1. The loss is taken at the targets of Platt (1999): with n₊ true and n₋
    false labels, (n₊+1)/(n₊+2) in place of 1 and 1/(n₋+2) in place of 0. So the model is finite
    where a line parts the classes, and where there is one class only.
    """
    x, y = _checked_features(features), np.asarray(labels, np.float64)
    mean, deviation = x.mean(0), x.std(0)
    deviation[deviation <= 1e-12 * np.abs(mean)] = 1.0  # a constant carries no information
    x = np.column_stack([(x - mean) / deviation, np.ones(len(x))])  # (n, F + 1)
    solution = _minimise(x, platt_targets(y), np.append(np.full(x.shape[1] - 1, ridge), 0.0))
    weights = solution[:-1] / deviation
    return Logistic(tuple(weights.tolist()), float(solution[-1] - weights @ mean))


def _checked_features(features: np.ndarray) -> np.ndarray:
    x = np.asarray(features, np.float64)
    if not len(x):
        raise BadInput("there is nothing to calibrate on", remedy="give at least one example")
    if not np.isfinite(x).all():
        raise BadInput("features to calibrate on are not finite numbers")
    return x


def platt_targets(labels: np.ndarray) -> np.ndarray:
    """Return labels of 0 and 1 drawn inwards by one example of each kind.

    >>> platt_targets(np.array([1, 1, 0])).tolist()
    [0.75, 0.75, 0.3333333333333333]
    """
    true = labels.sum()
    return np.where(labels > 0, (true + 1) / (true + 2), 1 / (len(labels) - true + 2))


def _minimise(x: np.ndarray, targets: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """Return the weights of least loss, of examples (n, F + 1) and their targets (n,)."""
    from scipy.optimize import minimize

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w
        value = (np.logaddexp(0, z) - targets * z).mean() + (ridge * w * w).sum() / 2
        return float(value), x.T @ (_sigmoid(z) - targets) / len(x) + ridge * w

    def hessian(w: np.ndarray) -> np.ndarray:
        p = _sigmoid(x @ w)
        return (x.T * (p * (1 - p))) @ x / len(x) + np.diag(ridge)

    start, options = np.zeros(x.shape[1]), {"gtol": _GRADIENT}
    result = minimize(loss, start, jac=True, hess=hessian, method="trust-ncg", options=options)
    solution: np.ndarray = result.x
    return solution


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0, -z))


def calibration_error(probabilities: np.ndarray, labels: np.ndarray, *, bins: int = 10) -> float:
    """Return the expected calibration error: mean |mean probability − share of true ones| of bins.

    The bins hold equally many examples, as far as equal probabilities, which stay together, allow.
    """
    p, y = _checked(probabilities, labels)
    _, group, size = np.unique(p, return_inverse=True, return_counts=True)
    middle = np.cumsum(size) - (size + 1) / 2  # the mean place of each group in sorted order
    in_bin = (middle * bins / len(p)).astype(np.int64)[group]
    return float(np.abs(np.bincount(in_bin, weights=p - y)).sum() / len(p))


def brier(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Return the Brier score, the mean of (p − y)²: 0 is perfect, 0.25 what p = ½ gets.

    >>> brier(np.array([1.0, 0.5]), np.array([1, 0]))
    0.125
    """
    p, y = _checked(probabilities, labels)
    return float(np.square(p - y).mean())


def _checked(probabilities: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p, y = np.asarray(probabilities, np.float64), np.asarray(labels, np.float64)
    if not len(p):
        raise BadInput("there are no probabilities to measure")
    if not ((p >= 0) & (p <= 1)).all():
        raise BadInput("probabilities lie between 0 and 1, and some do not")
    return p, y
