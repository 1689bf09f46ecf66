"""Length-bucketed batches: items of like length together, no batch above a budget of tokens."""

from __future__ import annotations

import numpy as np

from kgraft.errors import BadInput

ALIKE = 0.85  # least length, relative to the longest of its batch, that wastes little padding


def length_batches(
    lengths: np.ndarray, token_budget: int, *, seed: int | None = None
) -> list[np.ndarray]:
    """Split items into batches by length; each batch is an array of item indices.

    A batch's padded size (its longest item × its count) stays within `token_budget`; an item
    longer than that makes a batch alone. Once a batch fills a quarter of the budget, only items
    nearly as long as its longest join it, so that little is padded however far the lengths
    differ. Batches run from long to short, the same on every machine. With a `seed`, for
    training, items of equal length change places and the batches come in random order.

    >>> length_batches(np.array([3, 9, 3, 3]), 10)
    [array([1]), array([0, 2, 3])]
    """
    if token_budget < 1:
        raise BadInput(f"token_budget is {token_budget}", remedy="give 1 or more")
    lengths = np.asarray(lengths)
    random = None if seed is None else np.random.default_rng(seed)
    items = np.arange(len(lengths)) if random is None else random.permutation(len(lengths))
    order = items[np.argsort(-lengths[items], kind="stable")]
    batches = np.split(order, _edges(-np.maximum(lengths[order], 1), token_budget))[1:]
    if random is not None:
        random.shuffle(batches)
    return batches


def _edges(rising: np.ndarray, token_budget: int) -> list[int]:
    """Return where batches begin, given the negative lengths from long to short."""
    edges = [0]
    while edges[-1] < len(rising):
        begin = edges[-1]
        longest = -int(rising[begin])
        alike = int(np.searchsorted(rising, -ALIKE * longest, side="right")) - begin
        count = min(token_budget // longest, max(alike, token_budget // 4 // longest))
        edges.append(begin + max(count, 1))
    return edges[:-1]
