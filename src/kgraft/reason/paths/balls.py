"""The balls of queries: what lies within T steps of each head, as one graph in blocks.

A block has the entities around the head of one query. Rows of all blocks are in order of their
distance from the head, so that after t steps exactly the first `rows[t]` of them are reached, and
nothing else is worked on. The asked fact itself is no edge of its block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgraft.reason.kernels import compiled, in_shares
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


class _Tables(NamedTuple):
    """What the compiled functions share: a graph, the hidden facts, and the balls in it."""

    bounds: np.ndarray
    neighbour: np.ndarray
    relation: np.ndarray
    relations: int  # R
    head: np.ndarray  # (B,)
    asked: np.ndarray  # (B,) the relation of the hidden fact, −1 for none
    answer: np.ndarray  # (B,)
    member: np.ndarray  # (B, most) the entities of each ball, near ones first
    sizes: np.ndarray  # (B, T + 1) of each ball after each step
    position: np.ndarray  # (B, N) of each entity in the ball, −1 outside
    was_cut: np.ndarray  # (B,)


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
    tables = _new_tables(edges, relations, head, steps, most)
    if asked is not None and answer is not None:
        tables.asked[:], tables.answer[:] = asked, answer
    in_shares(lambda begin, end: _grow(begin, end, tables), len(head))
    own_rows = _rows_by_distance(tables.sizes)
    rows = np.concatenate(own_rows)
    entity, query = np.empty((2, len(rows)), np.int32)
    for index, own in enumerate(own_rows):
        entity[own], query[own] = tables.member[index, : len(own)], index
    starts = row_bounds(tables.sizes[:, -1])
    kept = _kept_edges(tables, starts, rows, for_training=for_training)
    return Balls(entity, query, tables.sizes.sum(0).tolist(), kept, tables.was_cut)


def _new_tables(
    edges: EdgeRows, relations: int, head: np.ndarray, steps: int, most: int
) -> _Tables:
    queries = len(head)
    return _Tables(
        edges.bounds,
        edges.neighbour,
        edges.relation,
        relations,
        np.ascontiguousarray(head, np.int32),
        np.full(queries, -1, np.int32),
        np.full(queries, -1, np.int32),
        np.empty((queries, min(most, edges.nodes)), np.int32),
        np.zeros((queries, steps + 1), np.int64),
        np.empty((queries, edges.nodes), np.int32),
        np.zeros(queries, np.bool_),
    )


def _rows_by_distance(sizes: np.ndarray) -> list[np.ndarray]:
    """Return the row of each member of each ball: near ones first, over all balls."""
    new = np.diff(sizes, axis=1, prepend=0)  # (B, T + 1) entities at each distance
    before = np.concatenate([[0], np.cumsum(new.sum(0))[:-1]])  # rows at smaller distances
    first = before + np.cumsum(new, axis=0) - new  # (B, T + 1)
    return [
        np.concatenate([np.arange(n) + begin for n, begin in zip(counts, begins, strict=True)])
        for counts, begins in zip(new, first, strict=True)
    ]


def _kept_edges(
    tables: _Tables, starts: np.ndarray, rows: np.ndarray, *, for_training: bool
) -> EdgeRows:
    """Return the edges between rows; for inference alone they are not sorted by neighbour, too."""
    counts, back_counts = np.zeros((2, len(rows)), np.int64)
    balls = len(tables.head)
    in_shares(
        lambda begin, end: _count(begin, end, tables, starts, rows, counts, back_counts), balls
    )
    own = _filled(tables, starts, rows, row_bounds(counts), back=False)
    if not for_training:
        nothing = np.zeros(0, np.int32)
        return EdgeRows(*own, np.zeros(1, np.int64), nothing, nothing)
    return EdgeRows(*own, *_filled(tables, starts, rows, row_bounds(back_counts), back=True))


def _filled(
    tables: _Tables, starts: np.ndarray, rows: np.ndarray, bounds: np.ndarray, *, back: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return bounds, other ends and relations of all rows."""
    ends, kinds = np.empty((2, bounds[-1]), np.int32)
    cursor = bounds[:-1].copy()
    in_shares(
        lambda begin, end: _fill(begin, end, tables, starts, rows, cursor, ends, kinds, back),
        len(tables.head),
    )
    return bounds, ends, kinds


@compiled
def _inverse(relation: int, relations: int) -> int:
    """Return the inverse of one of R relations and their inverses."""
    return relation - relations if relation >= relations else relation + relations


@compiled
def _is_hidden(tables: _Tables, b: int, node: int, edge: int) -> bool:
    """Tell whether an edge of a node is the asked fact, or its inverse."""
    other, kind, asked = tables.neighbour[edge], tables.relation[edge], tables.asked[b]
    if node == tables.head[b] and other == tables.answer[b] and kind == asked:
        return True
    inverse = _inverse(asked, tables.relations)
    return node == tables.answer[b] and other == tables.head[b] and kind == inverse


@compiled
def _grow(begin: int, end: int, tables: _Tables) -> None:
    """Fill members, sizes and positions of some balls, step by step."""
    for b in range(begin, end):
        member, position = tables.member[b], tables.position[b]
        position[:] = -1
        position[tables.head[b]] = 0
        member[0] = tables.head[b]
        tables.sizes[b, 0] = 1
        size, first = 1, 0
        for step in range(1, tables.sizes.shape[1]):
            last = size
            for near in range(first, last):
                node = member[near]
                for edge in range(tables.bounds[node], tables.bounds[node + 1]):
                    other = tables.neighbour[edge]
                    if position[other] >= 0 or _is_hidden(tables, b, node, edge):
                        continue
                    if size == len(member):
                        tables.was_cut[b] = True
                        break
                    position[other] = size
                    member[size] = other
                    size += 1
            first = last
            tables.sizes[b, step] = size


@compiled
def _count(
    begin: int,
    end: int,
    tables: _Tables,
    starts: np.ndarray,
    rows: np.ndarray,
    counts: np.ndarray,
    back_counts: np.ndarray,
) -> None:
    """Count the edges of each row to what may speak: all but the outermost."""
    for b in range(begin, end):
        speaking = tables.sizes[b, tables.sizes.shape[1] - 2]
        for near in range(tables.sizes[b, -1]):
            node, row = tables.member[b, near], rows[starts[b] + near]
            for edge in range(tables.bounds[node], tables.bounds[node + 1]):
                other = tables.position[b, tables.neighbour[edge]]
                if 0 <= other < speaking and not _is_hidden(tables, b, node, edge):
                    counts[row] += 1
                    back_counts[rows[starts[b] + other]] += 1


@compiled
def _fill(
    begin: int,
    end: int,
    tables: _Tables,
    starts: np.ndarray,
    rows: np.ndarray,
    cursor: np.ndarray,
    ends: np.ndarray,
    kinds: np.ndarray,
    back: bool,
) -> None:
    """Write the other end and the relation of each edge, rows ascending by their other ends.

    Edges come with their inverses, so that what a node hears along is seen from the other end.
    """
    for b in range(begin, end):
        speaking = tables.sizes[b, tables.sizes.shape[1] - 2]
        for near in range(tables.sizes[b, -1] if back else speaking):
            node, row = tables.member[b, near], rows[starts[b] + near]
            for edge in range(tables.bounds[node], tables.bounds[node + 1]):
                other, kind = tables.position[b, tables.neighbour[edge]], tables.relation[edge]
                if other < 0 or (back and other >= speaking):
                    continue
                if _is_hidden(tables, b, node, edge):
                    continue
                if not back:
                    kind = _inverse(kind, tables.relations)
                target = rows[starts[b] + other]
                ends[cursor[target]] = row
                kinds[cursor[target]] = 2 * tables.relations * b + kind
                cursor[target] += 1
