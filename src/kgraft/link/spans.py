"""Spans of tokens: their scores, and their vectors, all of a batch at once.

A span is columns first to last (exclusive) of a row of the batch. Its probability is

    p([i, j]) = σ( start(i) + end(j) + Σ_{t=i..j} inside(t) )

with i its first and j its last token, and its vector the mean of the vectors of its tokens
(Li et al. 2020).
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import pad


def span_logits(marks: Tensor, longest: int) -> Tensor:
    """Return the log-odds of all spans: (B, L, 3) start, end and inside to (B, L, longest).

    Entry (b, i, w) is the span of w + 1 tokens that begins at column i; −inf where it would not
    fit in its row.
    """
    start, end, inside = marks.unbind(-1)
    total = pad(inside.cumsum(1), (1, 0))  # (B, L + 1): Σ of all before
    ends = pad(end + total[:, 1:], (0, longest - 1), value=float("-inf"))
    return (start - total[:, :-1])[:, :, None] + ends.unfold(1, longest, 1)


def allowed_spans(begins: Tensor, ends: Tensor, longest: int) -> Tensor:
    """Return which spans begin and end where they may, (B, L) each to (B, L, longest)."""
    behind = pad(ends, (0, longest - 1)).unfold(1, longest, 1)
    return begins[:, :, None] & behind


def span_means(vectors: Tensor, row: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the mean vectors of spans: (B, L, D) and three (S,) to (S, D)."""
    total = pad(vectors.cumsum(1), (0, 0, 1, 0))  # (B, L + 1, D)
    return (total[row, last] - total[row, first]) / (last - first)[:, None]


def logits_at(marks: Tensor, row: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the log-odds of spans of any length: (B, L, 3) and three (S,) to (S,)."""
    start, end, inside = marks.unbind(-1)
    total = pad(inside.cumsum(1), (1, 0))
    return start[row, first] + end[row, last - 1] + total[row, last] - total[row, first]
