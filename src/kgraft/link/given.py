"""Mentions that the caller gives: each gets its candidates by name, or by meaning, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Mentions
from kgraft.link.knowledge import Knowledge
from kgraft.link.linking import LinkOptions, candidates_by_meaning, score_readings
from kgraft.link.model import LinkModel
from kgraft.link.reading import SpanEncoder, read_spans
from kgraft.text import TokenSpans, Windows


def given_mentions(
    model: LinkModel,
    knowledge: Knowledge,
    text: str,
    spans: Sequence[tuple[int, int]],
    *,
    reader: SpanEncoder | None = None,
) -> Mentions:
    """Return spans start:end of a text as scored mentions, in the order given.

    The scores of a mention sum to 1: the caller says that it is one, so "none" is not in question.
    """
    bounds = np.array(spans, np.int64).reshape(-1, 2)
    order = np.lexsort((bounds[:, 1], bounds[:, 0]))  # features compare a mention with the next
    bounds = bounds[order]
    windows = model.encoder.windows([text])
    read, _ = read_spans(reader or model, windows, _locate(windows, bounds))
    mentions = _named(knowledge.matcher.find([text]), bounds)
    if knowledge.index is not None:
        surfaces = [text[start:end] for start, end in bounds.tolist()]
        mentions = candidates_by_meaning(knowledge, surfaces, read.vectors, mentions)
    scored = score_readings(model, knowledge, [text], mentions, read, LinkOptions(coherence=False))
    return _normalised(scored).select(np.argsort(order))


def _locate(windows: Windows, bounds: np.ndarray) -> TokenSpans:
    """Return the tokens of spans start:end, (M, 2); refuse a span that has none."""
    spans = windows.locate(0, bounds[:, 0], bounds[:, 1])
    unreadable = np.flatnonzero(spans.window < 0)
    if len(unreadable):
        start, end = bounds[unreadable[0]].tolist()
        raise BadInput(f"span {start}:{end} contains no token, or is longer than one window")
    return spans


def _normalised(mentions: Mentions) -> Mentions:
    """Return mentions whose scores sum to 1 each."""
    total = np.bincount(mentions.owner, weights=mentions.score, minlength=len(mentions))
    score = mentions.score / np.maximum(total[mentions.owner], 1e-9)
    return replace(mentions, score=score.astype(np.float32))


def _named(names: Mentions, bounds: np.ndarray) -> Mentions:
    """Return spans as mentions with the candidates that names have at just these spans."""
    rows = {
        (start, end): row
        for row, (start, end) in enumerate(
            zip(names.start.tolist(), names.end.tolist(), strict=True)
        )
    }
    named = [rows.get((start, end), -1) for start, end in bounds.tolist()]
    chosen = names.select(np.array([row for row in named if row >= 0], np.int64))
    sizes = np.zeros(len(bounds), np.int64)
    sizes[[i for i, row in enumerate(named) if row >= 0]] = chosen.sizes
    return replace(
        chosen,
        text=np.zeros(len(bounds), np.int64),
        start=bounds[:, 0],
        end=bounds[:, 1],
        bounds=np.append(0, np.cumsum(sizes)),
    )
