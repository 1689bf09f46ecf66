"""Which facts of an entity to show first, where there is no room for all."""

from __future__ import annotations

import numpy as np

from kgraft.arrays import run_starts
from kgraft.graph.adjacency import Adjacency


def choose_facts(adjacency: Adjacency, entity: int, rows: np.ndarray, limit: int) -> np.ndarray:
    """Choose up to `limit` of an entity's edge rows, in their order.

    The first edge of every relation and direction comes before the second of any. A triple whose
    mirror image is an edge too (Peru borders Chile, Chile borders Peru) counts once.
    """
    relation, other = adjacency.edges[rows].T
    incoming = rows >= adjacency.bounds[2 * entity + 1]
    pair = relation.astype(np.int64) << 32 | other
    rows, relation, incoming = (
        part[~(incoming & np.isin(pair, pair[~incoming]))] for part in (rows, relation, incoming)
    )
    group = relation.astype(np.int64) * 2 + incoming
    begins = run_starts(group)
    place = np.arange(len(rows))
    turn = place - np.maximum.accumulate(np.where(begins, place, 0))
    return np.sort(rows[np.lexsort((place, turn))[:limit]])
