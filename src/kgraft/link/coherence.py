"""Coherence: candidates of one text that support each other.

Two candidates of different mentions support each other where a triple of the graph connects them. A
candidate is supported where a longer name of the same entity is in the text, "Obama" after "Barack
Obama", and it shares the fate of the same name elsewhere in the text: what is doubtful in one
sentence may be clear in another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Graph
from kgraft.graph.adjacency import expand
from kgraft.graph.mentions import Mentions

MOST_NEIGHBOURS = 4096  # of an entity that are looked at


Pairs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Support:
    """Which candidates support which: rows of candidates, (P,) each."""

    neighbour: Pairs  # supported, supporting
    longer_name: Pairs
    same_name: Pairs

    def features(self, scores: Tensor) -> Tensor:
        """Return what supports each candidate, given all scores (C,), as (C, 3)."""
        neighbours, longer, same = (_gathered(pairs, scores) for pairs in self.pairs)
        count = _gathered(self.same_name, torch.ones_like(scores))
        surer = torch.where(count > 0, same / count.clamp_min(1) - scores, 0.0)
        return torch.stack([torch.log1p(neighbours), longer.clamp_max(1), surer], dim=1)

    @property
    def pairs(self) -> tuple[Pairs, Pairs, Pairs]:
        """All kinds of support."""
        return self.neighbour, self.longer_name, self.same_name

    def between(self, low: int, high: int) -> Support:
        """Return which candidates of the rows low:high support each other, counted from low."""
        return Support(*(_between(pairs, low, high) for pairs in self.pairs))


def _between(pair: Pairs, low: int, high: int) -> Pairs:
    inside = np.all([(rows >= low) & (rows < high) for rows in pair], axis=0)
    return pair[0][inside] - low, pair[1][inside] - low


def _gathered(pair: Pairs, scores: Tensor) -> Tensor:
    supported, supporting = map(torch.from_numpy, pair)
    return torch.zeros_like(scores).index_add(0, supported, scores[supporting])


def find_support(graph: Graph, mentions: Mentions) -> Support:
    """Find which candidates of the same text support each other."""
    owner = mentions.owner
    text = mentions.text[owner]
    return Support(
        _distinct_mentions(_connected(graph, mentions.entity, text), owner),
        *_other_names(mentions, owner, text),
    )


def _connected(graph: Graph, entity: np.ndarray, text: np.ndarray) -> Pairs:
    """Return the pairs of candidates of one text whose entities share a triple."""
    order = np.lexsort((entity, text))
    text_entity = text[order] << np.int64(32) | entity[order]
    distinct, first = np.unique(text_entity, return_index=True)
    last = np.append(first[1:], len(order))
    of_text, entities = distinct >> np.int64(32), distinct & np.int64(0xFFFFFFFF)
    adjacency, (low, high) = graph.adjacency, np.zeros((2, len(entities)), np.int64)
    stored = entities < adjacency.entities
    low[stored], high[stored] = adjacency.spans(entities[stored], "both")
    source, edge = expand(low, np.minimum(high, low + MOST_NEIGHBOURS))
    wanted = of_text[source] << np.int64(32) | adjacency.edges[edge, 1].astype(np.int64)
    row = np.minimum(np.searchsorted(distinct, wanted), max(len(distinct) - 1, 0))
    joined = distinct[row] == wanted if len(distinct) else np.zeros(0, bool)
    pairs = np.unique(np.stack([source[joined], row[joined]]), axis=1)
    one, other = np.hstack([pairs, pairs[::-1]])  # a hub may have been cut on one side only
    pairs = np.unique(np.stack([one, other]), axis=1)
    return _expanded(pairs[0], pairs[1], first, last, order)


def _expanded(
    one: np.ndarray, other: np.ndarray, first: np.ndarray, last: np.ndarray, order: np.ndarray
) -> Pairs:
    """Return the pairs of rows for pairs of groups; group g has the rows order[first:last]."""
    pair, left = expand(first[one], last[one])
    inner, right = expand(first[other[pair]], last[other[pair]])
    return order[left[inner]], order[right]


def _distinct_mentions(pair: Pairs, owner: np.ndarray) -> Pairs:
    different = owner[pair[0]] != owner[pair[1]]
    return pair[0][different], pair[1][different]


def _other_names(mentions: Mentions, owner: np.ndarray, text: np.ndarray) -> tuple[Pairs, Pairs]:
    """Return the pairs of candidates of one entity in one text.

    First those whose second one has a longer name, then those with names of one length.
    """
    order = np.lexsort((mentions.entity, text))
    key = text[order] << np.int64(32) | mentions.entity[order]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    last = np.append(first[1:], len(key))
    size = last - first
    several = np.flatnonzero(size > 1)
    row, other = _expanded(several, several, first, last, order)
    length = (mentions.end - mentions.start)[owner]
    longer = length[other] > length[row] + 1
    same = (length[other] == length[row]) & (owner[other] != owner[row])
    return (row[longer], other[longer]), (row[same], other[same])
