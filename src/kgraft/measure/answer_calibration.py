"""How likely a predicted answer is right: learnt from the validation queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.measure.calibration import Logistic, calibration_error, fit_logistic
from kgraft.measure.queries import Queries
from kgraft.measure.ranking import Score, query_chunks

TOP = 50  # answers of a query that are learnt from
MOST = 20_000  # queries that are learnt from
FEATURES = 2  # log probability and log rank
FEWEST = 20  # true answers among them, below which nothing is learnt


def calibrate_answers(
    score: Score, valid: Queries, train: Queries, entities: int
) -> dict[str, Any] | None:
    """Fit the probability that a new answer is among the held-out ones, from its score and rank.

    The error is measured on queries left out of the fit: each half judges the other. Where too few
    held-out answers are among the best, there is no calibration.
    """
    features, labels, half = answer_examples(score, valid, train, entities)
    if labels.sum() < FEWEST:
        return None
    judged = np.zeros(len(labels))
    for side in (False, True):
        model = fit_logistic(features[half == side], labels[half == side])
        judged[half != side] = model.probability(features[half != side])
    error = calibration_error(judged, labels)
    return {**fit_logistic(features, labels).to_dict(), "error": error}


def answer_probabilities(
    stored: dict[str, Any] | None, scores: np.ndarray, known_answers: np.ndarray
) -> np.ndarray | None:
    """Return the probability of every entity as the answer of one query, from its scores (N,).

    As in fitting it, the `known_answers` (entity indices) do not compete with other answers.
    """
    if stored is None:
        return None
    rows, own = torch.from_numpy(known_answers), torch.from_numpy(scores)
    others = own.index_fill(0, rows, -torch.inf)
    total = others.logsumexp(0).repeat(len(own))
    total[rows] = total[rows].logaddexp(own[rows])
    rank = 1 + len(own) - torch.searchsorted(others.sort().values, own, right=True)
    return _read_model(stored).probability(_features(own, rank, total))


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
    """Return log probability (softmax) and log rank of answers: (…, n) to (… · n, 2)."""
    log_score = (scores - total).double()
    log_rank = rank.expand_as(log_score).double().log()
    return torch.stack([log_score, log_rank], dim=-1).reshape(-1, 2).numpy()


@torch.no_grad()
def answer_examples(
    score: Score, valid: Queries, train: Queries, entities: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features and labels of the best new answers to validation queries, and a half each."""
    features, labels, half = [np.zeros((0, 2))], [np.zeros(0, bool)], [np.zeros(0, bool)]
    chosen = np.linspace(0, len(valid) - 1, min(len(valid), MOST)).astype(np.int64)
    for rows in query_chunks(len(chosen), entities):
        row_features, row_labels, query = _chunk_examples(score, valid, train, chosen[rows])
        features.append(row_features)
        labels.append(row_labels)
        half.append(rows[query] % 2 == 0)
    return np.concatenate(features), np.concatenate(labels), np.concatenate(half)


def _chunk_examples(
    score: Score, valid: Queries, train: Queries, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features and labels of the best answers to some queries, and the query of each."""
    batch = valid.batch(indices)
    scores = torch.from_numpy(score(batch))
    scores[train.known(batch)] = -torch.inf
    best, answers = scores.topk(min(TOP, scores.shape[1]), dim=1)
    rank = torch.arange(1, answers.shape[1] + 1)
    features = _features(best, rank, scores.logsumexp(1, keepdim=True))
    right = _right(valid, indices, answers).reshape(-1)
    query = np.repeat(np.arange(len(indices)), answers.shape[1])
    kept = best.isfinite().reshape(-1).numpy()
    return features[kept], right[kept], query[kept]


def _right(valid: Queries, indices: np.ndarray, answers: Tensor) -> np.ndarray:
    """Return which of the answers (B, k) are right."""
    row, right = valid.answers(indices)
    entities = int(max(right.max(), int(answers.max()))) + 1
    keys = answers.numpy() + np.arange(len(indices))[:, None] * entities
    return np.isin(keys, row * entities + right)
