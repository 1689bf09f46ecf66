"""Windows: texts cut into overlapping runs of tokens that fit an encoder.

A text that fits makes one window; a longer one makes several of full length. The columns of a
window count its special tokens too, so that they are the columns of the encoder's input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from kgraft.errors import BadInput
from kgraft.text.offsets import Offsets, aligned
from kgraft.text.tokens import Tokeniser, Tokens


class TextSpans(Protocol):
    """Spans of characters in texts, such as `kgraft.graph.mentions.Mentions`."""

    @property
    def text(self) -> np.ndarray:
        """The index of the text of each span, (S,)."""
        ...

    @property
    def start(self) -> np.ndarray:
        """The first character of each span in its text, (S,)."""
        ...

    @property
    def end(self) -> np.ndarray:
        """The character after the last one, (S,)."""
        ...


class TokenSpans(NamedTuple):
    """Spans of tokens: columns `first` to `last` (exclusive) of the window of index `window`.

    `window` is -1, and the columns 0, for a span that no window holds.
    """

    window: np.ndarray  # (S,) int64
    first: np.ndarray  # (S,) int64
    last: np.ndarray  # (S,) int64

    def select(self, rows: np.ndarray) -> TokenSpans:
        """Return the spans of some rows (indices or a mask)."""
        return TokenSpans(*(column[rows] for column in self))

    def rows_in(self, windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the spans in some windows: the position of the window there, and the span's row.

        The spans must be sorted by window, as those of `token_spans` are.
        """
        start, stop = (np.searchsorted(self.window, windows, side=s) for s in ("left", "right"))
        position = np.repeat(np.arange(len(windows)), stop - start)
        shift = np.concatenate([[0], np.cumsum(stop - start)])[position]
        return position, np.arange(len(position)) - shift + start[position]


def token_spans(
    spans: TextSpans, windows: Windows, *, longest: int | None = None
) -> tuple[TokenSpans, np.ndarray]:
    """Lay spans of characters onto windows; return them sorted by window, and the row of each.

    Spans that no window holds (see `Windows.locate`) are left out, and so are those of more than
    `longest` tokens. Within a window they are sorted by first and last column, then by row.
    """
    located = windows.locate(spans.text, spans.start, spans.end)
    is_held = located.window >= 0
    if longest is not None:
        is_held &= located.last - located.first <= longest
    order = np.lexsort((located.last, located.first, located.window))
    rows = order[is_held[order]]
    return located.select(rows), rows


@dataclass(frozen=True)
class Windows:
    """The windows of many texts, in the order of the texts."""

    tokens: Tokens
    text: np.ndarray  # (W,) the index of the text of each window
    first: np.ndarray  # (W,) where the window begins among all tokens
    last: np.ndarray  # (W,) where it ends, exclusive
    prefix: np.ndarray  # special tokens before the text
    suffix: np.ndarray  # and after
    pad: int

    @classmethod
    def cut(
        cls, tokens: Tokens, tokeniser: Tokeniser, *, max_length: int, overlap: int | None
    ) -> Windows:
        """Cut texts into windows of at most `max_length` tokens with the special ones.

        Neighbours share `overlap` tokens or more. None keeps the first window of each text only.
        """
        capacity = max_length - len(tokeniser.prefix) - len(tokeniser.suffix)
        if capacity < 1 or (overlap is not None and not 0 <= overlap < capacity):
            raise BadInput(
                f"windows of {max_length} tokens with an overlap of {overlap or 0} leave no room",
                remedy="lower overlap or raise max_length",
            )
        text, first = _begins(tokens.bounds, capacity, overlap)
        last = np.minimum(first + capacity, tokens.bounds[text + 1])
        return cls(tokens, text, first, last, tokeniser.prefix, tokeniser.suffix, tokeniser.pad)

    def __len__(self) -> int:
        return len(self.text)

    def firsts(self) -> Windows:
        """Return the first window of each text: window n is of text n."""
        rows = np.searchsorted(self.text, np.arange(len(self.tokens.bounds) - 1))
        return replace(self, text=self.text[rows], first=self.first[rows], last=self.last[rows])

    @property
    def lengths(self) -> np.ndarray:
        """How many columns each window has, special tokens included."""
        lengths: np.ndarray = self.last - self.first + len(self.prefix) + len(self.suffix)
        return lengths

    def padded(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return token ids (B, L) int64 and mask (B, L) bool of some windows, padded on the right.

        `length_batches(windows.lengths, budget)` gives the indices batch by batch.
        """
        lengths = self.lengths[indices][:, None]  # (B, 1)
        ids = self.spread(self.tokens.ids, indices, self.pad).astype(np.int64)
        ids[:, : len(self.prefix)] = self.prefix
        tail = lengths - len(self.suffix) + np.arange(len(self.suffix))
        np.put_along_axis(ids, tail, np.broadcast_to(self.suffix, tail.shape), axis=1)
        return ids, np.arange(ids.shape[1]) < lengths

    def spread(self, values: np.ndarray, indices: np.ndarray, fill: float) -> np.ndarray:
        """Put a value of each token (T, …) into the columns of some windows, (B, L, …).

        The columns of special tokens and of padding get `fill`.
        """
        lengths = self.lengths[indices][:, None]  # (B, 1)
        column = np.arange(lengths.max(initial=0))  # (L,)
        body = (column >= len(self.prefix)) & (column < lengths - len(self.suffix))
        source = column - len(self.prefix) + self.first[indices][:, None]
        spread = np.full((*body.shape, *values.shape[1:]), fill, values.dtype)
        spread[body] = values[source[body]]
        return spread

    def locate(self, text: ArrayLike, start: ArrayLike, end: ArrayLike) -> TokenSpans:
        """Return the tokens of spans of characters `start:end` of texts given by index.

        A span gets every token it touches, in the window where it has most context on its
        poorer side. No window holds it (-1) if it is empty, only white space, or only
        characters the tokenizer drops, or if it is cut by every window: choose an overlap
        as long as the longest span to rule the last out.
        """
        first, last = self.offsets.tokens(text, start, end)
        window = self._best_window(first, last)
        is_held = window >= 0
        shift = len(self.prefix) - self.first[window[is_held]]
        columns = np.zeros((2, *is_held.shape), np.int64)
        columns[:, is_held] = first[is_held] + shift, last[is_held] + shift
        return TokenSpans(window, *columns)

    def at_home(self, window: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return which spans, columns first:last of a window, `locate` would put into that window.

        With it, a span that several windows hold counts once.
        """
        shift = self.first[window] - len(self.prefix)
        is_best: np.ndarray = self._best_window(first + shift, last + shift) == window
        return is_best

    def _best_window(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the window in which tokens first:last have most context, -1 if none holds them."""
        low = np.searchsorted(self.last, last, side="left")  # the first window to reach that far
        high = np.searchsorted(self.first, first, side="right") - 1  # the last to begin in time
        is_held = (first < last) & (low <= high)
        return np.where(is_held, self._nearest(first + last).clip(low, high), -1)

    def _nearest(self, middle: np.ndarray) -> np.ndarray:
        """Return the windows whose doubled middles lie nearest to those of some spans.

        There a span has most context, for all windows of a long text are equally long.
        """
        middles = np.append(self.first + self.last, np.iinfo(np.int64).max)
        right = np.searchsorted(middles, middle).clip(min=1)
        left_is_nearer = middle - middles[right - 1] <= middles[right] - middle
        return np.where(left_is_nearer, right - 1, right)

    def characters(
        self, window: ArrayLike, first: ArrayLike, last: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the characters start:end, in its text, that columns first:last of a window cover.

        Special tokens and white space at the ends are left out; both are -1 if nothing remains.
        """
        index, begin, stop = aligned(window, first, last)
        shift = self.first[index] - len(self.prefix)
        begin = np.maximum(begin + shift, self.first[index])
        stop = np.minimum(stop + shift, self.last[index])
        return self.offsets.spans(self.text[index], begin, stop)

    @property
    def offsets(self) -> Offsets:
        """Where the tokens stand in their texts."""
        if self.tokens.offsets is None:
            raise BadInput("these windows carry no offsets", remedy="tokenise with offsets=True")
        return self.tokens.offsets


def _begins(
    bounds: np.ndarray, capacity: int, overlap: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each window, the index of its text and the token at which it begins."""
    over = np.maximum(np.diff(bounds) - capacity, 0)  # (N,) tokens the first window has no room for
    if overlap is None:
        return np.arange(len(over)), bounds[:-1]
    step = capacity - overlap
    counts = 1 - (-over // step)
    text = np.repeat(np.arange(len(over)), counts)
    rank = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts)
    return text, bounds[text] + np.minimum(rank * step, over[text])
