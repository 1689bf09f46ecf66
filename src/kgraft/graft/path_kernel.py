"""The search for relation paths between two entities, compiled: at most three steps.

Paths are kept by their code: with B = 2R + 1 and steps ρ in 0 … 2R - 1, the sequence ρ1 ρ2 ρ3 is
((ρ1 + 1) B + ρ2 + 1) B + ρ3 + 1. Of the paths of one length those come first that lead through
rarer entities: their cost is the product of 1 + degree of the entities between the ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class Edges(NamedTuple):
    """Edges in both directions, by source, then target, then relation."""

    bounds: np.ndarray  # (N + 1,) where the edges of each entity begin
    target: np.ndarray  # (E,)
    relation: np.ndarray  # (E,) in 0 … 2R - 1
    base: int  # B


class _Best(NamedTuple):
    """The best sequences of one pair, ordered by length, cost and code."""

    codes: np.ndarray  # (C,)
    costs: np.ndarray  # (C,)
    ends: np.ndarray  # (2,) where those of the present length begin, and where all end


class _Marks(NamedTuple):
    """Which entities have an edge to the far end: those with the present stamp."""

    stamps: np.ndarray  # (N + 1,)
    stamp: int


def _compiled(function: Kernel) -> Kernel:
    return cast("Kernel", njit(cache=True, nogil=True)(function))


@_compiled
def _keep(best: _Best, code: int, cost: float) -> None:
    """Keep a sequence if it is among the best; of one that is there, keep the lower cost."""
    codes, costs, ends = best
    row = ends[0]
    while row < ends[1] and codes[row] != code:
        row += 1
    if row < ends[1]:
        if costs[row] <= cost:
            return
    elif row < len(codes):
        ends[1] += 1
    else:
        row -= 1
        if row < ends[0] or (costs[row], codes[row]) <= (cost, code):
            return
    while row > ends[0] and (cost, code) < (costs[row - 1], codes[row - 1]):
        codes[row], costs[row] = codes[row - 1], costs[row - 1]
        row -= 1
    codes[row], costs[row] = code, cost


@_compiled
def _first_row(edges: Edges, near: int, far: int) -> int:
    """Return the first edge of an entity whose target is not below another one."""
    low, high = edges.bounds[near], edges.bounds[near + 1]
    while low < high:
        middle = (low + high) // 2
        if edges.target[middle] < far:
            low = middle + 1
        else:
            high = middle
    return low


@_compiled
def _last_step(edges: Edges, near: int, far: int, prefix: int, cost: float, best: _Best) -> None:
    """Keep the sequences that a prefix makes with each edge from one entity to another."""
    row = _first_row(edges, near, far)
    while row < edges.bounds[near + 1] and edges.target[row] == far:
        _keep(best, prefix * edges.base + edges.relation[row] + 1, cost)
        row += 1


@_compiled
def _degree(edges: Edges, entity: int) -> int:
    return edges.bounds[entity + 1] - edges.bounds[entity]


@_compiled
def _mark_neighbours(edges: Edges, entity: int, stamp: int, stamps: np.ndarray) -> None:
    for row in range(edges.bounds[entity], edges.bounds[entity + 1]):
        stamps[edges.target[row]] = stamp


@_compiled
def _two_steps(edges: Edges, near: int, far: int, is_last: _Marks, best: _Best) -> None:
    for row in range(edges.bounds[near], edges.bounds[near + 1]):
        middle = edges.target[row]
        if is_last.stamps[middle] == is_last.stamp:
            cost = 1.0 + _degree(edges, middle)
            _last_step(edges, middle, far, edges.relation[row] + 1, cost, best)


@_compiled
def _three_steps(
    edges: Edges, near: int, far: int, is_last: _Marks, room: int, best: _Best
) -> None:
    """Look through the rarest neighbours first, and no further than `room` edges."""
    begin = edges.bounds[near]
    degrees = np.empty(_degree(edges, near), np.int64)
    for index in range(len(degrees)):
        degrees[index] = _degree(edges, edges.target[begin + index])
    for index in np.argsort(degrees, kind="mergesort"):
        room -= degrees[index]
        is_full = best.ends[1] == len(best.codes)
        if room < 0 or (is_full and 1.0 + degrees[index] > best.costs[-1]):
            return
        if edges.target[begin + index] != far:
            _last_two_steps(edges, near, far, begin + index, is_last, best)


@_compiled
def _last_two_steps(
    edges: Edges, near: int, far: int, first: int, is_last: _Marks, best: _Best
) -> None:
    middle, step = edges.target[first], edges.relation[first] + 1
    cost = 1.0 + _degree(edges, middle)
    for row in range(edges.bounds[middle], edges.bounds[middle + 1]):
        other = edges.target[row]
        if is_last.stamps[other] == is_last.stamp and other != near:
            prefix = step * edges.base + edges.relation[row] + 1
            _last_step(edges, other, far, prefix, cost * (1.0 + _degree(edges, other)), best)


@_compiled
def _search(
    edges: Edges, near: int, far: int, longest: int, is_last: _Marks, room: int, best: _Best
) -> None:
    """Keep the best sequences of one pair."""
    _last_step(edges, near, far, 0, 0.0, best)
    best.ends[0] = best.ends[1]
    if longest > 1:
        _two_steps(edges, near, far, is_last, best)
        best.ends[0] = best.ends[1]
    if longest > 2:
        _three_steps(edges, near, far, is_last, room, best)


@_compiled
def search_paths(
    edges: Edges, near: np.ndarray, far: np.ndarray, longest: int, room: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of the best sequences of each pair, (P, most), and how many there are.

    The neighbours of the far end are marked: pairs that share it should follow one another.
    """
    codes = np.zeros((len(near), most), np.int64)
    counts = np.zeros(len(near), np.int64)
    costs, ends = np.zeros(most), np.zeros(2, np.int64)
    stamps = np.zeros(len(edges.bounds), np.int32)
    stamp = 0
    for row in range(len(near)):
        if row == 0 or far[row] != far[row - 1]:
            stamp += 1
            _mark_neighbours(edges, far[row], stamp, stamps)
        ends[:] = 0
        best = _Best(codes[row], costs, ends)
        _search(edges, near[row], far[row], longest, _Marks(stamps, stamp), room, best)
        counts[row] = ends[1]
    return codes, counts
