"""Compiled functions that run on all cores: work is cut into shares, one thread per core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from kgraft.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

SHARES = 64  # the same on every machine, as random choices are made per share


def compiled(function: F) -> F:
    """Compile a function on its first call; it runs beside other threads (no lock of Python)."""
    return cast(F, njit(cache=True, nogil=True)(function))


def in_shares(
    work: Callable[[int, int], T],
    items: int,
    progress: Progress | None = None,
    *,
    shares: int = SHARES,
) -> list[T]:
    """Call work(begin, end) for consecutive shares of the items on all cores; return the results.

    The shares do not depend on the number of cores.
    """
    bounds = np.linspace(0, items, min(items, shares) + 1).astype(np.int64).tolist()
    if len(bounds) == 2:
        calls = iter([work(*bounds)])  # another thread would only cost time
    else:
        calls = _threads().map(work, bounds[:-1], bounds[1:])
    results = []
    for result in calls:
        results.append(result)
        if progress is not None:
            progress.advance()
    return results


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads that all calls share; `work` must not call `in_shares` itself."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="kgraft")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a fork has none of the threads


@compiled
def with_room(rows: np.ndarray, size: int) -> np.ndarray:
    """Return rows as they are, or twice as many until there is room for `size`."""
    while size > len(rows):
        rows = np.concatenate((rows, np.empty_like(rows)))
    return rows
