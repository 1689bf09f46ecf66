"""Surroundings: the sampled neighbourhoods of entities, and what may not be seen in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgraft.graph import Graph
from kgraft.graph.sampling import Hop, sample_neighbourhood
from kgraft.vectors.graph_attention import Around


def surroundings(
    graph: Graph,
    roots: np.ndarray,
    fan_out: Sequence[int],
    *,
    seed: int,
    hidden: np.ndarray | None = None,
) -> Around:
    """Sample the neighbourhoods of entities.

    `hidden` (roots, p) are entities to which no edge of a root may be seen, -1 for none: what is
    asked for must not be read off.
    """
    hops = sample_neighbourhood(graph.adjacency, roots, fan_out, seed=seed)
    if hidden is not None and hops:
        seen = (hops[0].target[:, None] != hidden[hops[0].source]).all(1)
        hops = pruned(hops, seen)
    return Around.of(roots, hops)


def pruned(hops: Sequence[Hop], kept: np.ndarray) -> list[Hop]:
    """Return the hops with some edges of the first, and of the others what hangs on those."""
    left = [_part(hops[0], kept, hops[0].source)]
    for hop in hops[1:]:
        place = np.cumsum(kept) - 1  # of the targets before, among those that are left
        kept = kept[hop.source]
        left.append(_part(hop, kept, place[hop.source]))
    return left


def _part(hop: Hop, kept: np.ndarray, source: np.ndarray) -> Hop:
    return Hop(source[kept], hop.relation[kept], hop.target[kept], hop.forward[kept])
