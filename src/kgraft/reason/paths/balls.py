"""The balls of queries: what lies within T steps of each head, as one graph in blocks.

A block has the entities around the head of one query. Rows of all blocks are in order of their
distance from the head, so that after t steps exactly the first `rows[t]` of them are reached, and
nothing else is worked on. The asked fact itself is no edge of its block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from kgraft.reason.paths.edge_rows import EdgeRows, row_bounds

MOST = 60_000  # entities of a ball; the nearest ones, where there are more


@dataclass(frozen=True)
class Balls:
    """The balls of B queries."""

    entity: np.ndarray  # (M,) of each row
    query: np.ndarray  # (M,) of each row
    rows: list[int]  # reached after 0, 1, … T steps; the first B rows are the heads
    edges: EdgeRows  # relations of query b have the indices b · 2R …
    was_cut: np.ndarray  # (B,) bool: there was more within T steps


def draw_balls(
    edges: EdgeRows,
    relations: int,
    head: np.ndarray,
    *,
    steps: int,
    asked: np.ndarray | None = None,
    answer: np.ndarray | None = None,
    most: int = MOST,
    for_training: bool = True,
) -> Balls:
    """Cut the balls of queries out of a graph of R relations and their inverses.

    Where `asked` relations and `answer`s are given, the facts (head, asked, answer) are left out.
    """
    head = np.ascontiguousarray(head, np.int32)
    hidden = np.full((len(head), 2), -1, np.int32)
    if asked is not None and answer is not None:
        hidden[:, 0], hidden[:, 1] = asked, answer
    most = min(most, edges.nodes)
    member = np.empty((len(head), most), np.int32)
    sizes = np.zeros((len(head), steps + 1), np.int64)  # of each ball after each step
    local = np.empty((len(head), edges.nodes), np.int32)
    was_cut = np.zeros(len(head), np.bool_)
    _grow(edges.bounds, edges.neighbour, edges.relation, head, hidden, relations, member, sizes,
          local, was_cut)  # fmt: skip
    row = _rows_by_distance(sizes)
    flat_rows = np.concatenate(row)
    entity = np.empty(len(flat_rows), np.int32)
    query = np.empty(len(flat_rows), np.int32)
    for index, own in enumerate(row):
        entity[own], query[own] = member[index, : len(own)], index
    starts = row_bounds(sizes[:, -1])
    tables = (edges.bounds, edges.neighbour, edges.relation, head, hidden, relations, member, sizes,
              local, starts, flat_rows)  # fmt: skip
    kept = _kept_edges(tables, for_training=for_training)
    return Balls(entity, query, sizes.sum(0).tolist(), kept, was_cut)


def _rows_by_distance(sizes: np.ndarray) -> list[np.ndarray]:
    """Return the row of each member of each ball: near ones first, over all balls."""
    new = np.diff(sizes, axis=1, prepend=0)  # (B, T + 1) entities at each distance
    before = np.concatenate([[0], np.cumsum(new.sum(0))[:-1]])  # rows at smaller distances
    first = before + np.cumsum(new, axis=0) - new  # (B, T + 1)
    return [
        np.concatenate([np.arange(n) + begin for n, begin in zip(counts, begins, strict=True)])
        for counts, begins in zip(new, first, strict=True)
    ]


def _kept_edges(tables: tuple, *, for_training: bool) -> EdgeRows:  # type: ignore[type-arg]
    flat_rows = tables[-1]
    counts, back_counts = np.zeros((2, len(flat_rows)), np.int64)
    _count(*tables, counts, back_counts)
    bounds = row_bounds(counts)
    neighbour, relation = np.empty((2, bounds[-1]), np.int32)
    _fill(*tables, bounds[:-1].copy(), neighbour, relation, False)
    if not for_training:
        nothing = np.zeros(0, np.int32)
        return EdgeRows(bounds, neighbour, relation, np.zeros(1, np.int64), nothing, nothing)
    back_bounds = row_bounds(back_counts)
    hearer, back_relation = np.empty((2, back_bounds[-1]), np.int32)
    _fill(*tables, back_bounds[:-1].copy(), hearer, back_relation, True)
    return EdgeRows(bounds, neighbour, relation, back_bounds, hearer, back_relation)


@njit(inline="always")
def _is_hidden(node, relation, neighbour, head, asked, answer, relations):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Tell whether an edge is the asked fact, or its inverse."""
    if node == head and neighbour == answer and relation == asked:
        return True
    inverse = asked - relations if asked >= relations else asked + relations
    return node == answer and neighbour == head and relation == inverse


@njit(parallel=True, cache=True)
def _grow(bounds, neighbour, relation, head, hidden, relations, member, sizes, local, was_cut):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill `member`, `sizes` and `local` (the position of an entity in its ball, or -1)."""
    for b in prange(len(head)):
        local[b, :] = -1
        local[b, head[b]] = 0
        member[b, 0] = head[b]
        size, first = 1, 0
        sizes[b, 0] = 1
        for step in range(1, sizes.shape[1]):
            last = size
            for position in range(first, last):
                node = member[b, position]
                for edge in range(bounds[node], bounds[node + 1]):
                    other = neighbour[edge]
                    if local[b, other] >= 0 or _is_hidden(
                        node, relation[edge], other, head[b], hidden[b, 0], hidden[b, 1], relations
                    ):
                        continue
                    if size == member.shape[1]:
                        was_cut[b] = True
                        break
                    local[b, other] = size
                    member[b, size] = other
                    size += 1
            first = last
            sizes[b, step] = size


@njit(parallel=True, cache=True)
def _count(
    bounds,
    neighbour,
    relation,
    head,
    hidden,
    relations,
    member,
    sizes,
    local,
    starts,
    rows,
    counts,
    back_counts,
):  # type: ignore[no-untyped-def]
    """Count the edges of each row to what may speak: all but the outermost."""
    for b in prange(len(head)):
        speaking = sizes[b, sizes.shape[1] - 2]
        for position in range(sizes[b, -1]):
            node, row = member[b, position], rows[starts[b] + position]
            for edge in range(bounds[node], bounds[node + 1]):
                other = local[b, neighbour[edge]]
                if (
                    other < 0
                    or other >= speaking
                    or _is_hidden(
                        node,
                        relation[edge],
                        neighbour[edge],
                        head[b],
                        hidden[b, 0],
                        hidden[b, 1],
                        relations,
                    )
                ):
                    continue
                counts[row] += 1
                back_counts[rows[starts[b] + other]] += 1


@njit(parallel=True, cache=True)
def _fill(
    bounds,
    neighbour,
    relation,
    head,
    hidden,
    relations,
    member,
    sizes,
    local,
    starts,
    rows,
    cursor,
    ends,
    kinds,
    back,
):  # type: ignore[no-untyped-def]
    """Write the other end and the relation of each edge, rows ascending by their other ends.

    Edges come with their inverses, so that what a node hears along is found from the other end.
    """
    for b in prange(len(head)):
        speaking = sizes[b, sizes.shape[1] - 2]
        for position in range(sizes[b, -1] if back else speaking):
            node, row = member[b, position], rows[starts[b] + position]
            for edge in range(bounds[node], bounds[node + 1]):
                other, kind = local[b, neighbour[edge]], relation[edge]
                if (
                    other < 0
                    or (back and other >= speaking)
                    or _is_hidden(
                        node, kind, neighbour[edge], head[b], hidden[b, 0], hidden[b, 1], relations
                    )
                ):
                    continue
                if not back:
                    kind = kind - relations if kind >= relations else kind + relations
                target = rows[starts[b] + other]
                ends[cursor[target]] = row
                kinds[cursor[target]] = b * 2 * relations + kind
                cursor[target] += 1
