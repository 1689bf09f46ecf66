"""Evaluation: links of annotated texts against their marks, at one threshold or at the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgraft.graph.annotated import Annotated
from kgraft.link.decode import choose, judge
from kgraft.link.knowledge import Knowledge
from kgraft.link.model import LinkModel
from kgraft.link.reading import Reader, positions, read_spans
from kgraft.link.score import Found, figures, match

THRESHOLDS = np.arange(1, 20) / 20


def find_links(
    model: LinkModel, knowledge: Knowledge, texts: Sequence[str], *, reader: Reader | None = None
) -> Found:
    """Return every span that was looked at, with its best candidate."""
    windows, named = model.encoder.windows(texts), knowledge.names.find(texts)
    spans = read_spans(reader or model, windows, named)
    start, end = positions(windows, named, spans.places)
    rows = named.rows(start, end)
    candidates = knowledge.candidates(named, rows, spans.vectors, spans.likely)
    judged = judge(model, spans, candidates, knowledge.vectors(candidates))
    text = named.text_of(start)
    shift = named.bounds[text]
    entity = judged.entity[:, 0]
    named_so = judged.prior[:, 0] > 0
    named_so[named_so] = knowledge.facts[entity[named_so], 0] > 0
    best = judged.best
    return Found(text, start - shift, end - shift, entity, best, named_so, judged.entity)


def choose_links(found: Found, threshold: float) -> Found:
    """Return the spans that become links at a threshold."""
    room = int(found.end.max(initial=0)) + 1
    shift = found.text * room
    return found.take(choose(found.score, found.start + shift, found.end + shift, threshold))


def evaluate(
    found: Found, marked: Annotated, threshold: float, *, partial: bool = False
) -> dict[str, float]:
    """Return precision, recall and F1 at a threshold.

    Where annotation is partial, a link of a proper name that touches no mark does not count.
    """
    links = choose_links(found, threshold)
    matched = match(links, marked)
    unknown = ~matched.touches & links.named if partial else np.zeros(len(links.text), bool)
    return figures(matched, ~unknown)


def best_threshold(found: Found, marked: Annotated, *, partial: bool) -> dict[str, float]:
    """Return the figures at the threshold with the best weak F1, and that threshold."""
    tried = [
        {**evaluate(found, marked, float(t), partial=partial), "threshold": float(t)}
        for t in THRESHOLDS
    ]
    return max(tried, key=lambda figure: (figure["weak_f1"], figure["strong_f1"]))
