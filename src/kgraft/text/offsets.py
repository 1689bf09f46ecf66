"""Characters to tokens and back, for many spans of many texts at once.

Inside, all texts lie end to end, so that positions only grow and a span is found by bisection.
Characters are Python's: `text[start:end]` is the span, whatever the script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kgraft.errors import BadInput

_LAST_SPACE = 0x3000  # no character above it is white space
_IS_SPACE = np.array([chr(c).isspace() for c in range(_LAST_SPACE + 1)] + [False])


def aligned(*values: ArrayLike) -> list[np.ndarray]:
    """Return integers or arrays of them as int64 arrays of one shape, at least (1,)."""
    arrays = [np.atleast_1d(np.asarray(value, np.int64)) for value in values]
    if len({array.shape for array in arrays}) == 1:
        return arrays
    return [np.array(array) for array in np.broadcast_arrays(*arrays)]


@dataclass(frozen=True)
class Offsets:
    """Where the tokens of many texts stand; positions run on from one text to the next."""

    starts: np.ndarray  # (T,) int64, never falling
    ends: np.ndarray  # (T,) int64, never falling
    bounds: np.ndarray  # (N + 1,) int64: text n has the characters bounds[n] to bounds[n + 1]
    solid: np.ndarray  # (C,) int64: the positions of all characters that are not white space

    @classmethod
    def of(cls, texts: Sequence[str], token_bounds: np.ndarray, pairs: np.ndarray) -> Offsets:
        """Build from each token's (start, end) in its own text, laid end to end in `pairs`."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        shift = np.repeat(bounds[:-1], np.diff(token_bounds))
        starts, ends = (np.maximum.accumulate(side + shift) for side in pairs.reshape(-1, 2).T)
        codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        solid = np.flatnonzero(~_IS_SPACE[np.minimum(codes, _LAST_SPACE + 1)])
        return cls(starts, ends, bounds, solid)

    def tokens(
        self, text: ArrayLike, start: ArrayLike, end: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the range of tokens that touch each span `start:end` of the text of an index.

        White space at the ends of a span does not count. The range is empty (first == last)
        where the span is empty, only white space, or only characters the tokenizer drops.
        """
        index, low, high = aligned(text, start, end)
        self._check(index, low, high)
        begin, stop = self._trim(self.bounds[index] + low, self.bounds[index] + high)
        first = np.searchsorted(self.ends, begin, side="right")
        last = np.searchsorted(self.starts, stop, side="left")
        return first, np.where(begin < stop, np.maximum(first, last), first)

    def spans(
        self, text: np.ndarray, first: np.ndarray, last: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the characters start:end in its text that tokens first:last cover.

        White space at the ends is left out; both are -1 if the range of tokens is empty.
        """
        filled = first < last
        start, end = np.full(first.shape, -1), np.full(first.shape, -1)
        begin, stop = self._trim(self.starts[first[filled]], self.ends[last[filled] - 1])
        shift = self.bounds[text[filled]]
        start[filled], end[filled] = begin - shift, stop - shift
        return start, end

    def _trim(self, begin: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Leave out white space at both ends; a span of nothing else becomes empty."""
        low = np.searchsorted(self.solid, begin, side="left")
        high = np.searchsorted(self.solid, stop, side="left")
        filled = low < high
        trimmed_begin, trimmed_stop = begin.copy(), begin.copy()
        trimmed_begin[filled] = self.solid[low[filled]]
        trimmed_stop[filled] = self.solid[high[filled] - 1] + 1
        return trimmed_begin, trimmed_stop

    def _check(self, text: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        texts = len(self.bounds) - 1
        if ((text < 0) | (text >= texts)).any():
            raise BadInput(f"a span names a text that is not among the {texts} given")
        size = np.diff(self.bounds)[text]
        bad = np.flatnonzero((start < 0) | (end < start) | (end > size))
        if len(bad):
            n, a, b, length = (int(x.flat[bad[0]]) for x in (text, start, end, size))
            raise BadInput(f"span {a}:{b} does not fit text {n} of {length} characters")
