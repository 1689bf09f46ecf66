"""How likely a predicted answer is right: learnt from the validation queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.embed.data import TrainingData
from kgraft.embed.tables import EmbeddingTables
from kgraft.errors import BadInput
from kgraft.measure import (
    Logistic,
    Queries,
    calibration_error,
    fit_logistic,
    query_chunks,
)

TOP = 50  # answers of a query that are learnt from
MOST = 20_000  # queries that are learnt from
FEATURES = 2  # log share and log rank
FEWEST = 20  # true answers among them, below which nothing is learnt


def calibrate(tables: EmbeddingTables, data: TrainingData) -> dict[str, Any] | None:
    """Fit the probability that a new answer is among the held-out ones, from share and rank.

    The error is measured on queries left out of the fit: each half judges the other.
    """
    features, labels, half = _examples(tables, data)
    if labels.sum() < FEWEST:
        return None
    judged = np.zeros(len(labels))
    for side in (False, True):
        model = fit_logistic(features[half == side], labels[half == side])
        judged[half != side] = model.probability(features[half != side])
    error = calibration_error(judged, labels)
    return {**fit_logistic(features, labels).to_dict(), "error": error}


def probabilities(
    stored: dict[str, Any] | None, scores: Tensor, known: np.ndarray
) -> np.ndarray | None:
    """Return the probability of every entity as the answer of one query, from its scores (N,).

    As in learning it, the `known` answers (by number) are rivals to none.
    """
    if stored is None:
        return None
    mine = torch.from_numpy(known)
    rivals = scores.index_fill(0, mine, -torch.inf)
    total = rivals.logsumexp(0).repeat(len(scores))
    total[mine] = total[mine].logaddexp(scores[mine])
    rank = 1 + len(scores) - torch.searchsorted(rivals.sort().values, scores, right=True)
    return _read_model(stored).probability(_features(scores, rank, total))


def _read_model(stored: dict[str, Any]) -> Logistic:
    try:
        model = Logistic.from_dict(stored)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"the calibration is damaged ({error})", remedy="train again") from error
    if len(model.weights) != FEATURES:
        reason = f"the calibration has {len(model.weights)} weights instead of {FEATURES}"
        raise BadInput(reason, remedy="train again")
    return model


def _features(scores: Tensor, rank: Tensor, total: Tensor) -> np.ndarray:
    """Return log share and log rank of answers: (…, n) to (… · n, 2)."""
    share = (scores - total).double()
    return torch.stack([share, rank.expand_as(share).double().log()], dim=-1).reshape(-1, 2).numpy()


@torch.no_grad()
def _examples(
    tables: EmbeddingTables, data: TrainingData
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features and labels of the best new answers to validation queries, and a half each."""
    features, labels, half = [np.zeros((0, 2))], [np.zeros(0, bool)], [np.zeros(0, bool)]
    chosen = np.linspace(0, len(data.valid) - 1, min(len(data.valid), MOST)).astype(np.int64)
    for places in query_chunks(len(chosen), data.entities):
        numbers = chosen[places]
        batch = data.valid.batch(numbers)
        scores = torch.from_numpy(tables.score(batch))
        scores[data.train.known(batch)] = -torch.inf
        best, answers = scores.topk(min(TOP, data.entities), dim=1)
        right = _right(data.valid, numbers, answers)
        rank = torch.arange(1, answers.shape[1] + 1)
        kept = best.isfinite().reshape(-1).numpy()
        found = _features(best, rank, scores.logsumexp(1, keepdim=True))
        features.append(found[kept])
        labels.append(right.reshape(-1)[kept])
        half.append(np.repeat(places % 2 == 0, answers.shape[1])[kept])
    return np.concatenate(features), np.concatenate(labels), np.concatenate(half)


def _right(valid: Queries, numbers: np.ndarray, answers: Tensor) -> np.ndarray:
    """Return which of the answers (B, k) are right."""
    row, right = valid.answers(numbers)
    entities = int(max(right.max(), int(answers.max()))) + 1
    keys = answers.numpy() + np.arange(len(numbers))[:, None] * entities
    return np.isin(keys, row * entities + right)
