"""The graph of relations: how each relation, or its inverse, meets the others in the graph.

Nodes are relations and their inverses. Relation a hears b where they meet: where some entity is a
head of both (head-head), a tail of both, a head of a and a tail of b, or the reverse; and where
some pair of entities has both. How much of a meets b is part of an edge's kind:

    head-head   |heads(a) ∩ heads(b)| / |heads(a)|        pair   |a ∩ b| / |a|

A relation is symmetric if it meets its own inverse in most pairs. Nothing in this belongs to one
graph, so a network over it reads the relations of graphs that it has never seen. (ULTRA has the
first four kinds, without how much.)
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from kgraft.reason.paths.edge_rows import EdgeRows

MEETINGS = ("head-head", "tail-tail", "head-tail", "tail-head", "pair")
FRACTIONS = (0.05, 0.25, 0.6)  # of a that meets b, which part the kinds of an edge
KINDS = len(MEETINGS) * (len(FRACTIONS) + 1)


def relation_graph(
    source: np.ndarray, relation: np.ndarray, target: np.ndarray, *, entities: int, relations: int
) -> EdgeRows:
    """Build the graph of 2R relations from edges in both directions."""
    heads, tails, pairs = (
        _incidence(relation, column, 2 * relations)
        for column in (source, target, source * entities + target)
    )
    meetings = [(heads, heads), (tails, tails), (heads, tails), (tails, heads), (pairs, pairs)]
    parts = [_edges(a, b, index) for index, (a, b) in enumerate(meetings)]
    node, kind, neighbour = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return EdgeRows.of(node, kind, neighbour, 2 * relations)


def _edges(a: csr_array, b: csr_array, meeting: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return node, kind and neighbour of the edges of one way to meet."""
    common: coo_array = (a @ b.T).tocoo()  # how many ends or pairs both have
    node, neighbour = common.coords
    fraction = common.data / np.diff(a.indptr)[node]
    kind = meeting * (len(FRACTIONS) + 1) + np.searchsorted(FRACTIONS, fraction)
    others = node != neighbour  # that a relation is like itself says nothing
    return node[others], kind[others], neighbour[others]


def _incidence(relation: np.ndarray, what: np.ndarray, relations: int) -> csr_array:
    """Return which relation has which end, or which pair, as rows of 0 and 1."""
    columns, column = np.unique(what, return_inverse=True)
    marks = csr_array(
        (np.ones(len(relation), np.float32), (relation, column)), shape=(relations, len(columns))
    )
    marks.sum_duplicates()
    marks.data[:] = 1
    return marks
