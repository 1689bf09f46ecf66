"""Reading: texts in, out the spans that are worth a closer look, with what the model sees there.

A span is proposed where its log-odds of being a mention are not hopeless, more readily so where it
is a name of the graph. All work is linear in the length of the text: spans have few tokens, and a
window keeps some in proportion to its length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from kgraft.graph.adjacency import expand
from kgraft.graph.names import Named
from kgraft.link.model import Read
from kgraft.link.spans import allowed_spans, logits_at, span_logits, span_means
from kgraft.text import Places, Windows, length_batches

FLOOR = -3.0  # log-odds of a span that is worth a look
NAMED_FLOOR = -6.0  # and of one that is a name
SEARCHED = -1.0  # and of one whose vector is worth a search
FEWEST, SHARE = 6, 0.3  # spans a window keeps: some, and more the longer it is
BUDGET = 2048  # padded tokens a batch


class Reader(Protocol):
    """What reads batches of windows: the model itself, or an exported form of it."""

    longest: int  # tokens of a mention

    def read(self, ids: np.ndarray, mask: np.ndarray) -> Read:
        """Read token ids and mask, (B, L) each."""
        ...


@dataclass(frozen=True)
class Spans:
    """Spans with what the model sees there."""

    places: Places  # columns first to last (exclusive) of windows
    logits: Tensor  # (S,) log-odds of being a mention
    vectors: Tensor  # (S, D)

    def __len__(self) -> int:
        return len(self.places.window)

    @property
    def likely(self) -> np.ndarray:
        """Which spans are mentions by their own right, not just because they are names, (S,)."""
        return (self.logits > SEARCHED).numpy()

    def take(self, rows: np.ndarray) -> Spans:
        """Return some of the spans."""
        which = torch.from_numpy(rows)
        return Spans(self.places.take(rows), self.logits[which], self.vectors[which])


def positions(windows: Windows, named: Named, places: Places) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions start:end of spans."""
    start, end = windows.characters(*places)
    shift = named.bounds[windows.text[places.window]]
    return start + shift, end + shift


def read_spans(
    reader: Reader, windows: Windows, named: Named, *, always: Places | None = None
) -> Spans:
    """Read windows and propose spans, each once, ordered by where they begin and end.

    Those of `always`, in order of the window and none longer than the reader's longest, are
    proposed in any case.
    """
    begins, ends = word_edges(windows, named)
    names = windows.locate(*named.characters(named.start, named.end))
    names = _in_order(_short(names, reader.longest))

    def propose(numbers: np.ndarray, read: Read) -> Places:
        logits = span_logits(read.marks, reader.longest)  # (B, L, longest)
        at_words = word_spans(windows, numbers, begins, ends, reader.longest)
        logits = logits.masked_fill(~at_words, -torch.inf)
        kept = max(FEWEST, int(SHARE * logits.shape[1]))
        likely = _likeliest(logits, kept)
        row, which = among(names.window, numbers)
        first, more = names.first[which], names.last[which] - names.first[which] - 1
        hopeful = logits[row, first, more].numpy() > NAMED_FLOOR
        flat = np.ravel_multi_index((row, first, more), logits.shape)[hopeful]
        flat = np.union1d(likely, flat)
        if always is not None:
            row, which = among(always.window, numbers)
            at = (row, always.first[which], always.last[which] - always.first[which] - 1)
            flat = np.union1d(flat, np.ravel_multi_index(at, logits.shape))
        row, first, more = np.unravel_index(flat, logits.shape)
        places = Places(numbers[row], first, first + more + 1)
        return places.take(windows.at_home(*places))

    spans = _read(reader, windows, propose)
    return spans.take(np.lexsort(positions(windows, named, spans.places)[::-1]))


def read_given(reader: Reader, windows: Windows, places: Places) -> Spans:
    """Read windows at given spans, which keep their order."""
    given = _in_order(places)
    spans = _read(reader, windows, lambda numbers, _: given.take(among(given.window, numbers)[1]))
    found, wanted = (np.lexsort(columns[::-1]) for columns in (spans.places, places))
    order = np.empty(len(wanted), np.int64)
    order[wanted] = found
    return spans.take(order)


def word_edges(windows: Windows, named: Named) -> tuple[np.ndarray, np.ndarray]:
    """Return which tokens begin a word, and which end one: (T,) bool each."""
    tokens = windows.tokens
    text = np.repeat(np.arange(len(tokens.bounds) - 1), np.diff(tokens.bounds))
    shift = named.bounds[text] - windows.offsets.bounds[text]
    begins = np.isin(windows.offsets.starts + shift, named.word_starts)
    return begins, np.isin(windows.offsets.ends + shift, named.word_ends)


def word_spans(
    windows: Windows, numbers: np.ndarray, begins: np.ndarray, ends: np.ndarray, longest: int
) -> Tensor:
    """Return which spans of some windows begin and end at words, (B, L, longest)."""
    first, last = (windows.spread(side, numbers, fill=False) for side in (begins, ends))
    return allowed_spans(torch.from_numpy(first), torch.from_numpy(last), longest)


def _short(places: Places, longest: int) -> Places:
    return places.take((places.window >= 0) & (places.last - places.first <= longest))


def _in_order(places: Places) -> Places:
    return places.take(np.argsort(places.window, kind="stable"))


def among(window: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for the spans in some windows: the row of the window, and which span; sorted input."""
    return expand(np.searchsorted(window, numbers), np.searchsorted(window, numbers, side="right"))


def _likeliest(logits: Tensor, kept: int) -> np.ndarray:
    """Return the flat places of each row's likeliest spans, if they are above the floor."""
    rows = logits.flatten(1)
    best, place = rows.topk(min(kept, rows.shape[1]), dim=1)
    row, column = torch.nonzero(best > FLOOR, as_tuple=True)
    return (row * rows.shape[1] + place[row, column]).numpy()


def _read(reader: Reader, windows: Windows, choose: Callable[[np.ndarray, Read], Places]) -> Spans:
    """Read all windows, and look at the spans that are chosen in each batch."""
    parts = []
    for numbers in length_batches(windows.lengths, BUDGET):
        read = reader.read(*windows.padded(numbers))
        places = choose(numbers, read)
        row_of = np.argsort(numbers)[np.searchsorted(np.sort(numbers), places.window)]
        where = tuple(map(torch.from_numpy, (row_of, places.first, places.last)))
        parts.append(Spans(places, logits_at(read.marks, *where), span_means(read.vectors, *where)))
    columns = zip(*(part.places for part in parts), strict=True)
    return Spans(
        Places(*map(np.concatenate, columns)),
        torch.cat([part.logits for part in parts]),
        torch.cat([part.vectors for part in parts]),
    )
