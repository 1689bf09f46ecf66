"""Lessons: the spans of annotated texts that a link model learns from, with their candidates.

Besides the marked mentions these are the spans that the model itself proposes, with the candidates
it finds there: the nearest wrong entities are the hardest negatives. They are looked for anew every
epoch. Annotation may be partial: a name that is not marked may be a mention nonetheless, so such
names weigh less, and least where they are written like names.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from kgraft.graph.annotated import Annotated
from kgraft.graph.names import Named
from kgraft.link.knowledge import Knowledge
from kgraft.link.model import LinkModel
from kgraft.link.reading import positions, read_spans, word_edges
from kgraft.text import Places, Windows


@dataclass(frozen=True)
class Unmarked:
    """How much a name that is not marked counts as no mention: 1 is certain, 0 not at all."""

    name: float = 0.3  # written like a name
    word: float = 1.0  # in small letters


@dataclass(frozen=True)
class Marked:
    """Annotated texts made ready: windows, names, and where the mentions stand in them."""

    windows: Windows
    named: Named
    begins: np.ndarray  # (T,) bool: tokens that begin a word
    ends: np.ndarray  # (T,) bool: tokens that end one
    gold: Places  # (M,) marked mentions, in order of the window
    entity: np.ndarray  # (M,) the entities they mean, -1 where the graph lacks it
    names: Places  # (N,) names that touch no marked mention, in order of the window
    weight: np.ndarray  # (N,) float32, how much each counts as no mention

    @classmethod
    def of(
        cls, model: LinkModel, knowledge: Knowledge, data: Annotated, unmarked: Unmarked
    ) -> Marked:
        """Make annotated texts ready; mentions that no window holds are left out."""
        windows, named = model.encoder.windows(data.texts), knowledge.names.find(data.texts)
        sizes = np.diff(named.bounds)[data.text] - 1
        sound = (data.start >= 0) & (data.start < data.end) & (data.end <= sizes)
        gold = windows.locate(data.text[sound], data.start[sound], data.end[sound])
        kept = (gold.window >= 0) & (gold.last - gold.first <= model.longest)
        entity = data.entity[sound][kept]
        gold, entity = _by_window(gold.take(kept), entity)
        names = windows.locate(*named.characters(named.start, named.end))
        fits = (names.window >= 0) & (names.last - names.first <= model.longest)
        best = named.entity[named.candidates[:-1]][fits]
        weight = np.where(knowledge.facts[best, 0] > 0, unmarked.name, unmarked.word)
        names, weight = _by_window(names.take(fits), weight.astype(np.float32))
        free = ~_touching(names, gold)
        edges = word_edges(windows, named)
        return cls(windows, named, *edges, gold, entity, names.take(free), weight[free])


@dataclass(frozen=True)
class Lessons:
    """Spans to learn from, in order of the window, with K candidates each."""

    window: np.ndarray  # (S,)
    first: np.ndarray  # (S,)
    last: np.ndarray  # (S,)
    entity: np.ndarray  # (S, K), -1 where padded
    prior: np.ndarray  # (S, K) float32
    gold: np.ndarray  # (S,) column of the marked entity, -1 where none is marked
    weight: np.ndarray  # (S,) float32, of the verdict

    @property
    def places(self) -> Places:
        """Where the spans stand."""
        return Places(self.window, self.first, self.last)

    def state(self) -> dict[str, Tensor]:
        """Return the lessons as tensors by name."""
        return {f.name: torch.from_numpy(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def of_state(cls, state: dict[str, Tensor]) -> Lessons:
        """Return the lessons that `state` gave."""
        return cls(**{f.name: state[f.name].numpy().copy() for f in fields(cls)})


def find_lessons(model: LinkModel, knowledge: Knowledge, marked: Marked) -> Lessons:
    """Look with the model as it is for the spans and candidates to learn from."""
    spans = read_spans(model, marked.windows, marked.named, always=marked.gold)
    rows = marked.named.rows(*positions(marked.windows, marked.named, spans.places))
    meant = _meant(spans.places, marked)
    searched = spans.likely | (meant >= 0)
    candidates = knowledge.candidates(marked.named, rows, spans.vectors, searched)
    order = np.argsort(spans.places.window, kind="stable")
    places = spans.places.take(order)
    columns = (candidates.entity[order], candidates.prior[order], meant[order])
    entity, prior, gold = _with_gold(*columns)
    weight = np.ones(len(order), np.float32)
    name, at = _pairs(_keys(places), _keys(marked.names))
    weight[name] = marked.weight[at]
    return Lessons(*places, entity, prior, gold, weight)


def _meant(places: Places, marked: Marked) -> np.ndarray:
    """Return the marked entity of each span, -1 where it is not marked."""
    meant = np.full(len(places.window), -1)
    span, mention = _pairs(_keys(places), _keys(marked.gold))
    meant[span] = marked.entity[mention]
    return meant


def _with_gold(
    entity: np.ndarray, prior: np.ndarray, meant: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add the marked entity in a last column where it is not among the candidates."""
    is_gold = (entity == meant[:, None]) & (meant >= 0)[:, None]
    missing = (meant >= 0) & ~is_gold.any(1)
    entity = np.column_stack([entity, np.where(missing, meant, -1)])
    prior = np.column_stack([prior, np.zeros(len(prior), np.float32)])
    gold = np.where(missing, entity.shape[1] - 1, np.where(meant >= 0, is_gold.argmax(1), -1))
    return entity, prior, gold


def _by_window(places: Places, values: np.ndarray) -> tuple[Places, np.ndarray]:
    order = np.lexsort(places[::-1])
    return places.take(order), values[order]


def _keys(places: Places) -> np.ndarray:
    return places.window << 32 | places.first << 16 | places.last


def _pairs(keys: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which of `keys` stand among `others` as well, and where."""
    order = np.argsort(others, kind="stable")
    place = np.searchsorted(others, keys, sorter=order)
    inside = place < len(others)
    inside[inside] = others[order[place[inside]]] == keys[inside]
    return np.flatnonzero(inside), order[place[inside]]


def _touching(places: Places, gold: Places) -> np.ndarray:
    """Return which spans overlap some marked mention of their window."""
    if not len(gold.window):
        return np.zeros(len(places.window), bool)
    begin, stop = (gold.window << 16 | side for side in (gold.first, gold.last))
    reach = np.maximum.accumulate(stop)  # of the mentions that begin at or before this one
    before = np.searchsorted(begin, places.window << 16 | places.last, side="left") - 1
    touching: np.ndarray = (before >= 0) & (
        reach[np.maximum(before, 0)] > (places.window << 16 | places.first)
    )
    return touching
