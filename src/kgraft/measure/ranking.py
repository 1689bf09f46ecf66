"""The rank of a true answer among all candidates, known answers left out, ties shared fairly."""

from __future__ import annotations

import numpy as np

from kgraft.errors import BadInput

PROTOCOL = "filtered ranking of heads and tails against all entities, ties at their mean rank"
HITS = (1, 3, 10)
_GROUP = 255  # 0/1 bytes that a byte can sum
_AT_ONCE = 16  # answers of a query looked at together, if it is alone


def filtered_ranks(
    scores: np.ndarray,
    rows: np.ndarray,
    answers: np.ndarray,
    known_rows: np.ndarray,
    known: np.ndarray,
) -> np.ndarray:
    """Return the rank of each answer: 1 + how many score more + half of how many score the same.

    `scores` (B, N) holds a query a row and is written over. Answer p is asked in row `rows[p]`; the
    known answers of a row, among them those asked for, are no rivals to one another. This is the
    *realistic* rank: what a random order of equal scores gives on average.
    """
    own = scores[rows, answers].copy()  # (P,)
    if np.isnan(own).any():
        raise BadInput("scores are not numbers (NaN)", remedy="train the vectors anew")
    scores[known_rows, known] = np.nan  # neither more nor the same
    step = max(len(scores), _AT_ONCE)
    parts = [slice(first, first + step) for first in range(0, len(own), step)]
    return np.concatenate([np.zeros(0), *(_ranks(scores, rows[p], own[p]) for p in parts)])


def _ranks(scores: np.ndarray, rows: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the ranks of some answers, whose own scores are gone from the rows."""
    if len(rows) != len(scores) or (rows != np.arange(len(scores))).any():
        scores = scores[rows]  # (P, N)
    step = 8 * _GROUP
    room = np.zeros((len(own), -(-scores.shape[1] // step) * step), bool)
    above = _count(np.greater, scores, own, room)
    equal = _count(np.equal, scores, own, room)
    return 1.0 + above + equal / 2


def _count(compare: np.ufunc, scores: np.ndarray, own: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Count the scores of each row that compare with the row's own: (P, N), (P,) to (P,).

    The comparisons are bytes of 0 or 1. Read as 64-bit words they are summed eight at a time, in
    groups so small that no byte overflows.
    """
    compare(scores, own[:, None], out=room[:, : scores.shape[1]])
    words = room.view(np.int64).reshape(len(room), -1, _GROUP)  # (P, groups, 255)
    return words.sum(-1).view(np.uint8).sum(-1, dtype=np.int64)


def rank_figures(ranks: np.ndarray) -> dict[str, float]:
    """Return MRR, Hits@1, 3 and 10, mean rank and count; nothing for no ranks.

    >>> rank_figures(np.array([1, 2, 20]))["hits10"]
    0.6666666666666666
    """
    if not len(ranks):
        return {}
    hits = {f"hits{k}": float((ranks <= k).mean()) for k in HITS}
    mean = {"mrr": float((1 / ranks).mean()), **hits, "mean_rank": float(ranks.mean())}
    return {**mean, "count": len(ranks)}
