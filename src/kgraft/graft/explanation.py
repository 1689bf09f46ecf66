"""Looking inside: what a grafted encoder looked up for a text, and which words it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft.encoder import GraftedEncoder
from kgraft.graft.explained_paths import ExplainedPath, explain_paths
from kgraft.graft.grafting import knowledge_off, record_grafts
from kgraft.graft.interfaces import Knowledge
from kgraft.graft.output import GraftOutput
from kgraft.graft.windows import MentionWindows
from kgraft.text import MentionBatch, Windows


@dataclass(frozen=True)
class CandidateWeight:
    """A candidate of a mention, and how much of it was mixed in."""

    id: str
    label: str
    description: str
    prior: float
    score: float  # ψ
    weight: float


@dataclass(frozen=True)
class ExplainedMention:
    """A mention with its candidates, and the fraction of all attention that went to it."""

    layer: int
    knowledge: str
    start: int
    end: int
    text: str
    attention_share: float
    candidates: list[CandidateWeight]  # by weight; none of positive weight: NULL was mixed in


@dataclass(frozen=True)
class WordChange:
    """A word of the text, and how far knowledge moved its vector."""

    start: int
    end: int
    text: str
    change: float  # relative to the vector's length


@dataclass(frozen=True)
class Explanation:
    """All that was looked up for a text."""

    text: str
    mentions: list[ExplainedMention]
    words: list[WordChange]
    paths: list[ExplainedPath]  # by weight; none where the knowledge has no paths

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON holds it."""
        return asdict(self)


@torch.no_grad()
def explain(encoder: GraftedEncoder, text: str, *, limit: int = 5) -> Explanation:
    """Read a text with and without knowledge, and say what was looked up and what it changed.

    Only as much of the text is read as the encoder takes at once.
    """
    windows = encoder.windows([text])
    assert isinstance(windows, MentionWindows)
    if not len(windows):
        raise BadInput("there is nothing to read in the text")
    first = np.array([0])
    ids, mask = map(torch.from_numpy, windows.padded(first))
    mentions = windows.mentions(first)
    encoder.model.eval()
    with record_grafts() as record:
        on = encoder.read(ids, mask, knowledge=mentions)
    with knowledge_off(encoder.model):
        off = encoder.read(ids, mask)
    layers = _layers(encoder, mentions, record)
    explained = [mention for layer in layers for mention in _mentions(layer, windows, text, limit)]
    paths = [path for layer in layers for path in _paths(encoder, layer)[:limit]]
    return Explanation(text, explained, _words(windows, text, on[0], off[0]), paths)


@dataclass(frozen=True)
class _Layer:
    """What a graft read and gave out."""

    index: int
    knowledge: Knowledge
    mentions: MentionBatch
    output: GraftOutput


def _layers(
    encoder: GraftedEncoder,
    mentions: Mapping[int, MentionBatch],
    record: Mapping[int, GraftOutput],
) -> list[_Layer]:
    return [
        _Layer(layer, encoder.grafts.knowledge[layer], mentions[layer], output.cpu())
        for layer, output in record.items()
    ]


def _mentions(layer: _Layer, windows: Windows, text: str, limit: int) -> list[ExplainedMention]:
    first, last = layer.mentions.first[0].numpy(), layer.mentions.last[0].numpy()
    start, end = windows.characters(0, first, last)
    share = layer.output.attention[0].mean(0)
    return [
        ExplainedMention(
            layer=layer.index,
            knowledge=layer.knowledge.name,
            start=int(start[m]),
            end=int(end[m]),
            text=text[start[m] : end[m]],
            attention_share=float(share[m]),
            candidates=_candidates(layer, m, limit),
        )
        for m in np.flatnonzero(layer.mentions.present[0].numpy()).tolist()
    ]


def _candidates(layer: _Layer, m: int, limit: int) -> list[CandidateWeight]:
    mentions, output = layer.mentions, layer.output
    is_candidate = mentions.is_candidate[0, m]
    weight, score = output.weights[0, m][is_candidate], output.scores[0, m][is_candidate]
    order = np.lexsort((-score.numpy(), -weight.numpy()))[:limit]
    rows = zip(
        layer.knowledge.entities(mentions.entity[0, m][is_candidate].numpy()[order]),
        mentions.prior[0, m][is_candidate][order].tolist(),
        score[order].tolist(),
        weight[order].tolist(),
        strict=True,
    )
    return [CandidateWeight(e.id, e.label, e.description, *figures) for e, *figures in rows]


def _paths(encoder: GraftedEncoder, layer: _Layer) -> list[ExplainedPath]:
    graft = encoder.grafts.at(layer.index)
    return explain_paths(layer.index, graft, layer.knowledge, layer.mentions, layer.output)


def _is_inside_word(text: str, position: int) -> bool:
    return text[position - 1 : position + 1].isalnum()


def _words(windows: Windows, text: str, on: torch.Tensor, off: torch.Tensor) -> list[WordChange]:
    """Return the words of the text with how far they were moved: the most of their pieces."""
    changes = ((on - off).norm(dim=-1) / off.norm(dim=-1).clamp_min(1e-9)).numpy()
    columns = np.arange(len(windows.prefix), int(windows.lengths[0]) - len(windows.suffix))
    start, end = windows.characters(0, columns, columns + 1)
    words: list[WordChange] = []
    for column, a, b in zip(columns.tolist(), start.tolist(), end.tolist(), strict=True):
        if a < 0:
            continue
        change = float(changes[column])
        if words and words[-1].end == a and _is_inside_word(text, a):
            last = words.pop()
            a, change = last.start, max(last.change, change)
        words.append(WordChange(a, b, text[a:b], change))
    return words
