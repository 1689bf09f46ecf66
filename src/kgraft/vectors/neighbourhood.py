"""The sampled neighbourhoods of entities, and what may not be seen in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Graph, Hop, sample_neighbourhood


@dataclass(frozen=True)
class Neighbourhood:
    """Entities and the edges that lead from them, hop by hop; one row per entity and way to it.

    The entities of hop h (of the roots, where h is 0) are rows `bounds[h]` to `bounds[h + 1]`; an
    edge leads from a row of one hop to one of the next.
    """

    entity: Tensor  # (n,) index of the entity of each row
    bounds: list[int]
    source: list[Tensor]  # by hop: (e,) row of the hop before
    relation: list[Tensor]  # by hop: (e,)
    forward: list[Tensor]  # by hop: (e,) bool, whether the triple is (source, relation, target)

    @classmethod
    def of(cls, roots: np.ndarray, hops: Sequence[Hop]) -> Neighbourhood:
        """Join what `sample_neighbourhood` gave for some roots."""
        parts = [np.asarray(roots, np.int64), *(hop.target.astype(np.int64) for hop in hops)]
        bounds = [0, *np.cumsum([len(part) for part in parts]).tolist()]
        return cls(
            torch.from_numpy(np.concatenate(parts)),
            bounds,
            [torch.from_numpy(hop.source) for hop in hops],
            [torch.from_numpy(hop.relation.astype(np.int64)) for hop in hops],
            [torch.from_numpy(hop.forward) for hop in hops],
        )

    def to(self, device: torch.device | str) -> Neighbourhood:
        """Return the same on a device."""
        lists = (
            [t.to(device) for t in part] for part in (self.source, self.relation, self.forward)
        )
        return Neighbourhood(self.entity.to(device), self.bounds, *lists)


def neighbourhoods(
    graph: Graph,
    roots: np.ndarray,
    fan_out: Sequence[int],
    *,
    seed: int,
    hidden: np.ndarray | None = None,
) -> Neighbourhood:
    """Sample the neighbourhoods of entities.

    `hidden` (roots, p) are entities to which no edge of a root may be seen, -1 for none: what is
    asked for must not be read off.
    """
    hops = sample_neighbourhood(graph.adjacency, roots, fan_out, seed=seed)
    if hidden is not None and hops:
        seen = (hops[0].target[:, None] != hidden[hops[0].source]).all(1)
        hops = pruned(hops, seen)
    return Neighbourhood.of(roots, hops)


def pruned(hops: Sequence[Hop], kept: np.ndarray) -> list[Hop]:
    """Return the hops with some edges of the first, and of the others what they lead to."""
    pruned_hops = [_part(hops[0], kept, hops[0].source)]
    for hop in hops[1:]:
        row = np.cumsum(kept) - 1  # of the targets before, among those that are kept
        kept = kept[hop.source]
        pruned_hops.append(_part(hop, kept, row[hop.source]))
    return pruned_hops


def _part(hop: Hop, kept: np.ndarray, source: np.ndarray) -> Hop:
    return Hop(source[kept], hop.relation[kept], hop.target[kept], hop.forward[kept])
