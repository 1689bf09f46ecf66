"""Sampling on the adjacency arrays: multi-hop neighbourhoods and random walks.

All choices come from the raw stream of one generator, by arithmetic that is exact everywhere, so a
seed gives the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.arrays import expand
from kgraft.errors import BadInput
from kgraft.graph.adjacency import Adjacency, Direction


@dataclass(frozen=True)
class Hop:
    """The edges sampled for one hop, as flat arrays.

    Edge i leads from target source[i] of the hop before (from root source[i] in the first hop) to
    entity target[i]; `forward` tells whether the triple is (source, relation, target) or its
    reverse.
    """

    source: np.ndarray  # (M,) int64, position in the previous hop's targets, or in the roots
    relation: np.ndarray  # (M,) int32
    target: np.ndarray  # (M,) int32
    forward: np.ndarray  # (M,) bool


def sample_neighbourhood(
    adjacency: Adjacency,
    roots: np.ndarray,
    fan_out: Sequence[int],
    *,
    seed: int,
    direction: Direction = "both",
) -> list[Hop]:
    """Sample up to fan_out[k] edges, without replacement, for every entity reached by hop k.

    An entity that is reached twice is expanded twice: each root has a neighbourhood of its own.
    """
    if min(fan_out, default=1) < 1:
        raise BadInput(f"a fan-out is {min(fan_out)}", remedy="give numbers from 1 on")
    random = np.random.SFC64(seed)
    hops = []
    frontier = _known(adjacency, roots)
    for size in fan_out:
        hop = _sample_hop(adjacency, frontier, size, random, direction)
        hops.append(hop)
        frontier = hop.target
    return hops


def _known(adjacency: Adjacency, roots: np.ndarray) -> np.ndarray:
    """Refuse indices of no entity, such as the -1 that `Graph.indices_of` gives for unknown ids."""
    roots = np.asarray(roots)
    strange = roots[(roots < 0) | (roots >= adjacency.entities)]
    if len(strange):
        raise BadInput(f"no entity has the index {strange[0]}", remedy="leave unknown ids out")
    return roots


def _sample_hop(
    adjacency: Adjacency,
    frontier: np.ndarray,
    size: int,
    random: np.random.SFC64,
    direction: Direction,
) -> Hop:
    first, last = adjacency.spans(frontier, direction)
    degree = last - first
    all_taken, drawn = np.flatnonzero(degree <= size), np.flatnonzero(degree > size)
    owner, every = expand(first[all_taken], last[all_taken])
    chosen = first[drawn, None] + _spread(degree[drawn], size, random).view(np.int64)
    source = np.concatenate([all_taken[owner], np.repeat(drawn, size)])
    row = np.concatenate([every, chosen.ravel()])
    edge = _gather(adjacency.edges, row)
    forward = row < adjacency.spans(frontier, "out")[1][source]
    return Hop(source, edge[:, 0], edge[:, 1], forward)


def _gather(edges: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return edges[rows], each pair fetched as one 64-bit number."""
    return edges.view(np.int64).ravel()[rows].view(np.int32).reshape(-1, 2)


def _spread(degree: np.ndarray, size: int, random: np.random.SFC64) -> np.ndarray:
    """Choose `size` different numbers below each degree d > size, every number equally likely.

    The range is cut into `size` parts, one number is drawn from each, and all are rotated by a
    random amount: p(number is chosen) = size / d (to 32 bits), and the sample is spread over the
    relations, by which edges are sorted.
    """
    draws = _draws(random, len(degree) * (size + 1)).reshape(len(degree), size + 1)
    high = degree.astype(np.uint64)[:, None]
    bounds = (np.arange(size + 1) * (degree / size)[:, None]).astype(np.uint64)
    chosen = draws[:, :-1] * np.diff(bounds, axis=1)
    chosen >>= np.uint64(32)
    chosen += bounds[:, :-1]
    chosen += (draws[:, -1:] * high) >> np.uint64(32)
    return np.minimum(chosen, chosen - high)  # modulo d: below it, the difference wraps around


def _draws(random: np.random.SFC64, count: int) -> np.ndarray:
    """Return numbers below 2³² from the raw stream, which no version of NumPy may change."""
    raw = np.asarray(random.random_raw((count + 1) // 2), "<u8")
    return raw.view("<u4")[:count].astype(np.uint64)


@dataclass(frozen=True)
class Walks:
    """Random walks, padded with -1 behind an entity without edges."""

    entities: np.ndarray  # (W, length + 1) int32
    relations: np.ndarray  # (W, length) int32
    forward: np.ndarray  # (W, length) bool


def random_walks(
    adjacency: Adjacency,
    roots: np.ndarray,
    length: int,
    *,
    seed: int,
    direction: Direction = "both",
) -> Walks:
    """Walk `length` steps from every root, each along one of the entity's edges at random."""
    random = np.random.SFC64(seed)
    entities = np.full((len(roots), length + 1), -1, np.int32)
    relations = np.full((len(roots), length), -1, np.int32)
    forward = np.zeros((len(roots), length), bool)
    entities[:, 0] = _known(adjacency, roots)
    alive = np.arange(len(roots))
    for step in range(length):
        hop = _sample_hop(adjacency, entities[alive, step], 1, random, direction)
        alive = alive[hop.source]
        entities[alive, step + 1] = hop.target
        relations[alive, step] = hop.relation
        forward[alive, step] = hop.forward
    return Walks(entities, relations, forward)
