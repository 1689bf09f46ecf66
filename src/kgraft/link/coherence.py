"""Coherence: candidates of one text that support each other.

Two candidates of different mentions support each other where a triple of the graph connects them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.arrays import expand
from kgraft.graph import Graph, Mentions

MOST_NEIGHBOURS = 4096  # of an entity that are looked at


Pairs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Support:
    """Which candidates support which, by rows: those supported, and those that support, (P,)."""

    pairs: Pairs

    def features(self, scores: Tensor) -> Tensor:
        """Return how much supports each candidate, given all scores (C,), as (C, 1)."""
        supported, supporting = map(torch.from_numpy, self.pairs)
        total = torch.zeros_like(scores).index_add(0, supported, scores[supporting])
        return torch.log1p(total)[:, None]

    def between(self, low: int, high: int) -> Support:
        """Return which candidates of the rows low:high support each other, counted from low."""
        inside = np.all([(rows >= low) & (rows < high) for rows in self.pairs], axis=0)
        return Support((self.pairs[0][inside] - low, self.pairs[1][inside] - low))


def find_support(graph: Graph, mentions: Mentions) -> Support:
    """Find which candidates of the same text support each other."""
    owner = mentions.owner
    connected = _connected(graph, mentions.entity, mentions.text[owner])
    return Support(_distinct_mentions(connected, owner))


def _connected(graph: Graph, entity: np.ndarray, text: np.ndarray) -> Pairs:
    """Return the pairs of candidates of one text whose entities share a triple."""
    order = np.lexsort((entity, text))
    key = text[order] << np.int64(32) | entity[order]
    distinct, first = np.unique(key, return_index=True)
    last = np.append(first[1:], len(order))
    one, other = _connected_keys(graph, distinct)
    return _expanded(one, other, first, last, order)


def _connected_keys(graph: Graph, keys: np.ndarray) -> Pairs:
    """Return the pairs of rows of one text whose entities share a triple.

    `keys` (K,), ascending, hold the text in their upper half and the entity in their lower one.
    """
    if not len(keys):
        return keys, keys
    source, neighbour = _neighbours(graph, keys & np.int64(0xFFFFFFFF))
    neighbour_key = keys[source] >> np.int64(32) << np.int64(32) | neighbour
    row = np.minimum(np.searchsorted(keys, neighbour_key), len(keys) - 1)
    joined = keys[row] == neighbour_key
    pairs = np.unique(np.stack([source[joined], row[joined]]), axis=1)
    one, other = np.hstack([pairs, pairs[::-1]])  # a hub may have been cut on one side only
    pairs = np.unique(np.stack([one, other]), axis=1)
    return pairs[0], pairs[1]


def _neighbours(graph: Graph, entities: np.ndarray) -> Pairs:
    """Return the neighbours of entities as pairs of a row and a neighbour; new ones have none."""
    adjacency = graph.adjacency
    low, high = np.zeros((2, len(entities)), np.int64)
    stored = entities < adjacency.entities
    low[stored], high[stored] = adjacency.spans(entities[stored], "both")
    row, edge = expand(low, np.minimum(high, low + MOST_NEIGHBOURS))
    return row, adjacency.edges[edge, 1].astype(np.int64)


def _expanded(
    one: np.ndarray, other: np.ndarray, first: np.ndarray, last: np.ndarray, order: np.ndarray
) -> Pairs:
    """Return the pairs of rows for pairs of groups; group g has the rows order[first:last]."""
    pair, one_position = expand(first[one], last[one])
    inner, other_position = expand(first[other[pair]], last[other[pair]])
    return order[one_position[inner]], order[other_position]


def _distinct_mentions(pair: Pairs, owner: np.ndarray) -> Pairs:
    different = owner[pair[0]] != owner[pair[1]]
    return pair[0][different], pair[1][different]
