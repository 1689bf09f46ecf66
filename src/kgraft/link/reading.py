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

from kgraft.graph.adjacency import expand
from kgraft.link.model import EncoderOutput
from kgraft.link.spans import allowed_spans, logits_at, span_logits, span_means
from kgraft.text import Places, Windows, length_batches

FLOOR = -1.0  # log-odds of a span that is worth a search
FEWEST, SHARE = 4, 0.15  # spans a window keeps: a few, and more the longer it is
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

    places: Places  # columns first to last (exclusive) of windows
    logits: Tensor  # (S,) log-odds of being a mention
    vectors: Tensor  # (S, D)

    def __len__(self) -> int:
        return len(self.places.window)

    def take(self, rows: np.ndarray) -> SpanVectors:
        """Return some of the spans."""
        index = torch.from_numpy(rows)
        return SpanVectors(self.places.take(rows), self.logits[index], self.vectors[index])

    @classmethod
    def concat(cls, parts: list[SpanVectors]) -> SpanVectors:
        """Return several sets of spans as one."""
        columns = zip(*(part.places for part in parts), strict=True)
        return cls(
            Places(*map(np.concatenate, columns)),
            torch.cat([part.logits for part in parts]),
            torch.cat([part.vectors for part in parts]),
        )


def read_spans(
    reader: SpanEncoder,
    windows: Windows,
    places: Places,
    edges: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[SpanVectors, SpanVectors]:
    """Read windows at given spans, which keep their order, and propose others.

    None are proposed without `edges`: which tokens begin a word, and which end one, (T,) bool each.
    """
    order = np.argsort(places.window, kind="stable")
    ordered = places.take(order)
    given, proposed, rows = [], [], []
    for batch in length_batches(windows.lengths, BUDGET):
        output = reader.read(*windows.padded(batch))
        row, span = among(ordered.window, batch)
        rows.append(span)
        given.append(_look(output, row, ordered.take(span)))
        if edges is not None:
            row, likely = _propose(reader, windows, batch, output, edges)
            proposed.append(_look(output, row, likely))
    spans = SpanVectors.concat(given)
    back = np.empty(len(order), np.int64)
    back[order[np.concatenate(rows)]] = np.arange(len(order))
    nothing = spans.take(np.zeros(0, np.int64))
    return spans.take(back), SpanVectors.concat(proposed) if proposed else nothing


def _look(output: EncoderOutput, row: np.ndarray, places: Places) -> SpanVectors:
    columns = tuple(map(torch.from_numpy, (row, places.first, places.last)))
    return SpanVectors(
        places, logits_at(output.marks, *columns), span_means(output.vectors, *columns)
    )


def _propose(
    reader: SpanEncoder,
    windows: Windows,
    batch: np.ndarray,
    output: EncoderOutput,
    edges: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, Places]:
    """Return the likeliest spans of a batch that begin and end at words: rows and places."""
    logits = span_logits(output.marks, reader.longest)  # (B, L, longest)
    allowed = word_spans(windows, batch, *edges, reader.longest)
    flat = logits.masked_fill(~allowed, -torch.inf).flatten(1)
    # By the length of the window itself, so that the other texts of a batch change nothing.
    kept = torch.from_numpy(np.maximum(FEWEST, (SHARE * windows.lengths[batch]).astype(np.int64)))
    best, column = flat.topk(min(int(kept.max()), flat.shape[1]), dim=1)
    likely = (best > FLOOR) & (torch.arange(best.shape[1]) < kept[:, None])
    row, rank = (index.numpy() for index in torch.nonzero(likely, as_tuple=True))
    first, more = np.divmod(column.numpy()[row, rank], reader.longest)
    places = Places(batch[row], first, first + more + 1)
    at_home = windows.at_home(*places)
    return row[at_home], places.take(at_home)


def word_spans(
    windows: Windows, batch: np.ndarray, begins: np.ndarray, ends: np.ndarray, longest: int
) -> Tensor:
    """Return which spans of some windows begin and end at words, (B, L, longest)."""
    first, last = (windows.spread(side, batch, fill=False) for side in (begins, ends))
    return allowed_spans(torch.from_numpy(first), torch.from_numpy(last), longest)


def among(window: np.ndarray, batch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for the spans in some windows: the row of the window, and the span; sorted input."""
    return expand(np.searchsorted(window, batch), np.searchsorted(window, batch, side="right"))
