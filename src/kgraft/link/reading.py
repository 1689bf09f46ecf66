"""Reading: windows of texts in, what the model sees at spans out.

A span that is not a name is proposed where its log-odds of being a mention are not hopeless. All
work is linear in the length of the text: proposed spans have few tokens, and a window keeps a
number of them in proportion to its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from kgraft.arrays import rank_within
from kgraft.link.model import EncoderOutput
from kgraft.link.spans import allowed_spans, logits_at, span_means
from kgraft.text import TokenSpans, Windows, length_batches

FLOOR = -1.0  # log-odds of a span that is worth a search
FEWEST, SHARE = 4, 0.15  # spans kept per window: a few, and more the longer it is
BUDGET = 2048  # padded tokens per batch


class SpanEncoder(Protocol):
    """What reads batches of windows: the model itself, or an exported form of it."""

    @property
    def longest(self) -> int:
        """How many tokens a proposed span has at most."""
        ...

    def read(self, ids: np.ndarray, mask: np.ndarray) -> EncoderOutput:
        """Read token ids and mask, (B, L) each."""
        ...


@dataclass(frozen=True)
class SpanVectors:
    """Spans with what the model sees there."""

    places: TokenSpans  # columns first to last (exclusive) of windows
    logits: Tensor  # (S,) log-odds of being a mention
    vectors: Tensor  # (S, D)

    def __len__(self) -> int:
        return len(self.places.window)

    def take(self, rows: np.ndarray) -> SpanVectors:
        """Return some of the spans."""
        index = torch.from_numpy(rows)
        return SpanVectors(self.places.select(rows), self.logits[index], self.vectors[index])

    @classmethod
    def concat(cls, parts: list[SpanVectors]) -> SpanVectors:
        """Return several sets of spans as one."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.places for part in parts), strict=True)
        return cls(
            TokenSpans(*map(np.concatenate, columns)),
            torch.cat([part.logits for part in parts]),
            torch.cat([part.vectors for part in parts]),
        )


def read_spans(
    reader: SpanEncoder,
    windows: Windows,
    places: TokenSpans,
    edges: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[SpanVectors, SpanVectors]:
    """Read windows at given spans, which keep their order, and propose others.

    None are proposed without `edges`: which tokens begin a word, and which end one, (T,) bool each.
    """
    order = np.argsort(places.window, kind="stable")
    ordered = places.select(order)
    given, proposed, rows = [], [], []
    for batch in length_batches(windows.lengths, BUDGET):
        output = reader.read(*windows.padded(batch))
        row, span = ordered.rows_in(batch)
        rows.append(span)
        asked = [(row, ordered.select(span))]
        if edges is not None:
            asked.append(_propose(reader, windows, batch, output, edges))
        looked = _look(output, asked)
        given.append(looked[0])
        proposed += looked[1:]
    spans = SpanVectors.concat(given)
    nothing = spans.take(np.zeros(0, np.int64))
    back = _inverse(order[np.concatenate(rows)])
    return spans.take(back), SpanVectors.concat(proposed) if proposed else nothing


def _inverse(order: np.ndarray) -> np.ndarray:
    """Return the permutation that takes an order back."""
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return back


def _look(output: EncoderOutput, asked: list[tuple[np.ndarray, TokenSpans]]) -> list[SpanVectors]:
    """Return what the model sees at spans of a batch, for several lists of rows and places."""
    row = np.concatenate([rows for rows, _ in asked])
    first = np.concatenate([places.first for _, places in asked])
    last = np.concatenate([places.last for _, places in asked])
    columns = tuple(map(torch.from_numpy, (row, first, last)))
    sizes = [len(rows) for rows, _ in asked]
    logits = logits_at(output.marks, *columns).split_with_sizes(sizes)
    vectors = span_means(output.vectors, *columns).split_with_sizes(sizes)
    places = [places for _, places in asked]
    return [SpanVectors(*one) for one in zip(places, logits, vectors, strict=True)]


def _propose(
    reader: SpanEncoder,
    windows: Windows,
    batch: np.ndarray,
    output: EncoderOutput,
    edges: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, TokenSpans]:
    """Return the likeliest spans of a batch that begin and end at words: rows and places.

    Those of a row come with the best first.
    """
    row, first, last = _word_columns(windows, batch, edges, reader.longest)
    columns = tuple(map(torch.from_numpy, (row, first, last)))
    logits = logits_at(output.marks, *columns).numpy()
    likely = np.flatnonzero(logits > FLOOR)
    likely = likely[np.lexsort((-logits[likely], row[likely]))]
    # By the length of the window itself, so that the other texts of a batch change nothing.
    most = np.maximum(FEWEST, (SHARE * windows.lengths[batch]).astype(np.int64))
    kept = likely[rank_within(row[likely]) < most[row[likely]]]
    row, places = row[kept], TokenSpans(batch[row[kept]], first[kept], last[kept])
    at_home = windows.at_home(*places)
    return row[at_home], places.select(at_home)


def _word_columns(
    windows: Windows, batch: np.ndarray, edges: tuple[np.ndarray, np.ndarray], longest: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, first and last column (exclusive) of the spans that begin and end at words."""
    sides = windows.spread(np.stack(edges, axis=1), batch, fill=False)
    row, first = np.nonzero(sides[:, :, 0])
    last = first[:, None] + np.arange(longest)  # (N, longest), inclusive
    inside = last < sides.shape[1]
    ends = sides[row[:, None], np.where(inside, last, 0), 1] & inside
    begin, more = np.nonzero(ends)
    return row[begin], first[begin], first[begin] + more + 1


def word_spans(
    windows: Windows, batch: np.ndarray, begins: np.ndarray, ends: np.ndarray, longest: int
) -> Tensor:
    """Return which spans of some windows begin and end at words, (B, L, longest)."""
    first, last = (windows.spread(side, batch, fill=False) for side in (begins, ends))
    return allowed_spans(torch.from_numpy(first), torch.from_numpy(last), longest)
