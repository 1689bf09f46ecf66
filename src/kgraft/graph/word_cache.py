"""A cache of what is worked out for words: texts use the same few thousand again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 1 << 16  # words that are kept; then the cache begins anew


class WordCache(Generic[T]):
    """A function of many words at once, whose results are kept by word.

    It may be used from several threads at once.

    >>> lengths = WordCache(lambda words: map(len, words))
    >>> lengths(["New", "York", "New"])
    [3, 4, 3]
    """

    def __init__(self, compute: Callable[[list[str]], Iterable[T]], most: int = MOST) -> None:
        """Take the function, which gives one result per word, and never for no words."""
        self._compute, self._most = compute, most
        self._known: dict[str, T] = {}

    def __call__(self, words: Sequence[str]) -> list[T]:
        """Return the result of each word."""
        known = self._known
        try:
            return [known[word] for word in words]
        except KeyError:
            pass
        distinct = dict.fromkeys(words)
        if len(known) + len(distinct) > self._most:
            self._known = known = {}
        missing = [word for word in distinct if word not in known]
        known.update(zip(missing, self._compute(missing), strict=True))
        return [known[word] for word in words]
