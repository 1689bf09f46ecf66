"""Looking inside: what a grafted encoder looked up for a text, and which words it moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft.attach import knowledge_off, looking
from kgraft.graft.encoder import GraftedEncoder, NoticedWindows
from kgraft.graft.knowledge import Knowledge
from kgraft.graft.output import GraftOutput
from kgraft.text import Windows
from kgraft.text.mention_batch import MentionBatch


@dataclass(frozen=True)
class Considered:
    """A candidate of a mention."""

    id: str
    label: str
    description: str
    prior: float
    score: float  # ψ
    weight: float  # how much of it was mixed in


@dataclass(frozen=True)
class Explained:
    """A mention, with its candidates from the one that weighs most, and how far it was heard."""

    layer: int
    knowledge: str
    start: int
    end: int
    text: str
    heard: float  # the share of all attention that went to it
    candidates: list[Considered]  # none of positive weight: NULL was mixed in


@dataclass(frozen=True)
class Word:
    """A word of the text, and how far knowledge moved its vector."""

    start: int
    end: int
    text: str
    moved: float  # relative to the vector's length


@dataclass(frozen=True)
class Explanation:
    """All that was looked up for a text."""

    text: str
    mentions: list[Explained]
    words: list[Word]


@torch.no_grad()
def explain(encoder: GraftedEncoder, text: str, *, limit: int = 5) -> Explanation:
    """Read a text with and without knowledge, and say what was looked up and what it changed.

    Only as much of the text is read as the encoder takes at once.
    """
    windows = encoder.windows([text])
    assert isinstance(windows, NoticedWindows)
    if not len(windows):
        raise BadInput("there is nothing to read in the text")
    first = np.array([0])
    ids, mask = map(torch.from_numpy, windows.padded(first))
    mentions = windows.mentions(first)
    encoder.model.eval()
    with looking() as seen:
        on = encoder.read(ids, mask, knowledge=mentions)
    with knowledge_off(encoder.model):
        off = encoder.read(ids, mask)
    vectors = on[0], off[0]
    found = [
        explained
        for layer, looked in seen.items()
        for explained in _mentions(
            _Layer(layer, encoder.grafts.knowledge[layer], mentions[layer], looked.cpu()),
            windows,
            text,
            limit,
        )
    ]
    return Explanation(text, found, _words(windows, text, *vectors))


@dataclass(frozen=True)
class _Layer:
    """What a layer knew and did."""

    number: int
    knowledge: Knowledge
    mentions: MentionBatch
    looked: GraftOutput


def _mentions(layer: _Layer, windows: Windows, text: str, limit: int) -> list[Explained]:
    first, last = layer.mentions.first[0].numpy(), layer.mentions.last[0].numpy()
    start, end = windows.characters(0, first, last)
    heard = layer.looked.attention[0].mean(0)
    found = []
    for m in np.flatnonzero(layer.mentions.present[0].numpy()).tolist():
        span = int(start[m]), int(end[m])
        told = (layer.number, layer.knowledge.name, *span, text[slice(*span)], float(heard[m]))
        found.append(Explained(*told, _candidates(layer, m, limit)))
    return found


def _candidates(layer: _Layer, m: int, limit: int) -> list[Considered]:
    mentions, looked = layer.mentions, layer.looked
    there = mentions.is_candidate[0, m]
    weight, score = looked.weights[0, m][there], looked.scores[0, m][there]
    order = np.lexsort((-score.numpy(), -weight.numpy()))[:limit]
    rows = zip(
        layer.knowledge.entities(mentions.entity[0, m][there].numpy()[order]),
        mentions.prior[0, m][there][order].tolist(),
        score[order].tolist(),
        weight[order].tolist(),
        strict=True,
    )
    return [Considered(e.id, e.label, e.description, *figures) for e, *figures in rows]


def _words(windows: Windows, text: str, on: torch.Tensor, off: torch.Tensor) -> list[Word]:
    """Return the words of the text with how far they were moved: the most of their pieces."""
    moved = ((on - off).norm(dim=-1) / off.norm(dim=-1).clamp_min(1e-9)).numpy()
    columns = np.arange(len(windows.prefix), int(windows.lengths[0]) - len(windows.suffix))
    start, end = windows.characters(0, columns, columns + 1)
    words: list[Word] = []
    for column, a, b in zip(columns.tolist(), start.tolist(), end.tolist(), strict=True):
        if a < 0:
            continue
        far = float(moved[column])
        if words and words[-1].end == a and text[a - 1 : a + 1].isalnum():  # a piece of one word
            last = words.pop()
            a, far = last.start, max(last.moved, far)
        words.append(Word(a, b, text[a:b], far))
    return words
