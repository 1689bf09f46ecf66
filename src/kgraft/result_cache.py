"""A cache of what is worked out for words or entities: texts use the same few thousand again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
MOST = 1 << 16  # results that are kept; a call for more begins with an empty cache


class ResultCache(Generic[K, T]):
    """A function of many keys at once, such as words, whose results are kept by key.

    It may be used from several threads at once.

    >>> lengths = ResultCache[str, int](lambda words: map(len, words))
    >>> lengths(["New", "York", "New"])
    [3, 4, 3]
    """

    def __init__(self, compute: Callable[[list[K]], Iterable[T]], most: int = MOST) -> None:
        """Take the function, which gives one result per key; it is never asked for none."""
        self._compute, self._most = compute, most
        self._results: dict[K, T] = {}

    def __call__(self, keys: Sequence[K]) -> list[T]:
        """Return the result of each key."""
        results = self._results
        try:
            return [results[key] for key in keys]
        except KeyError:
            pass
        distinct = list(dict.fromkeys(keys))
        missing = [key for key in distinct if key not in results]
        if len(results) + len(missing) > self._most:
            self._results = results = {}
            missing = distinct
        results.update(zip(missing, self._compute(missing), strict=True))
        return [results[key] for key in keys]
