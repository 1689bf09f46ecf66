"""How often the body of a path rule holds, and how often its heads hold with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.progress import Progress
from kgraft.reason.kernels import compiled, in_shares
from kgraft.reason.rules.edges import Edges, run_of
from kgraft.reason.rules.frontiers import Frontiers, follow, last_atom, make_frontiers


@dataclass(frozen=True)
class BodyCounts:
    """What was counted for bodies, each with some heads."""

    body_count: np.ndarray  # (B,) int64: pairs (X, Y) for which the body holds
    support: np.ndarray  # (H,) int64: pairs for which a head holds, too
    sampled: np.ndarray  # (B,) bool: counted from some X, and scaled up


def count_bodies(
    edges: Edges,
    bodies: np.ndarray,
    head_bounds: np.ndarray,
    heads: np.ndarray,
    limits: tuple[int, float],
    progress: Progress | None = None,
) -> BodyCounts:
    """Count the pairs (X, Y) of bodies (B, 3), each with heads[head_bounds[i]:head_bounds[i + 1]].

    `limits` are how many edges are visited, and a confidence. Once so many edges were visited for
    a body, the entities X not yet begun with are left out, and the counts scaled up. A body whose
    heads are all below half of that confidence after an eighth of the edges is given up early.
    """
    body_count, visited = np.zeros(len(bodies)), np.zeros(len(bodies))
    support = np.zeros(len(heads))

    def count(begin: int, end: int) -> None:
        bounds, part = head_bounds[begin : end + 1], slice(begin, end)
        own = slice(bounds[0], bounds[-1])
        results = body_count[part], visited[part], support[own]
        _count_share(edges, bodies[part], bounds - bounds[0], heads[own], limits, *results)

    in_shares(count, len(bodies), progress)
    return _scaled_up(body_count, support, visited, np.diff(head_bounds))


def _scaled_up(
    body_count: np.ndarray, support: np.ndarray, visited: np.ndarray, heads: np.ndarray
) -> BodyCounts:
    """Return the counts for all entities X, from those for the visited part of them."""
    scale = 1 / np.maximum(visited, 1e-12)
    return BodyCounts(
        np.rint(body_count * scale).astype(np.int64),
        np.rint(support * np.repeat(scale, heads)).astype(np.int64),
        visited < 1,
    )


@compiled
def _count_share(
    edges: Edges,
    bodies: np.ndarray,
    head_bounds: np.ndarray,
    heads: np.ndarray,
    limits: tuple[int, float],
    body_count: np.ndarray,
    visited: np.ndarray,
    support: np.ndarray,
) -> None:
    frontiers = make_frontiers(len(edges.run_bounds) - 1)
    for i in range(len(bodies)):
        own = slice(head_bounds[i], head_bounds[i + 1])
        counts = _count(edges, frontiers, bodies[i], heads[own], limits, support[own])
        body_count[i], visited[i] = counts


@compiled
def _count(
    edges: Edges,
    frontiers: Frontiers,
    body: np.ndarray,
    heads: np.ndarray,
    limits: tuple[int, float],
    support: np.ndarray,
) -> tuple[float, float]:
    """Count one body and its heads; return the count, and which part of the entities X it is of."""
    groundings, least = limits
    first = edges.source_bounds[body[0]]
    sources = edges.sources[first : edges.source_bounds[body[0] + 1]]
    offset, stride = _order(len(sources), body)
    last, count, steps, begun = last_atom(body), 0, 0, 0
    while begun < len(sources) and steps < groundings:
        x = sources[(offset + begun * stride) % len(sources)]
        begun += 1
        steps += follow(edges, frontiers, x, body, 0)
        count += frontiers.size[last]
        for h in range(len(heads)):
            support[h] += _explained(edges, frontiers, x, heads[h], last)
        if 8 * steps > groundings and (support < least / 2 * count).all():
            break
    return count, begun / max(len(sources), 1)


@compiled
def _explained(edges: Edges, frontiers: Frontiers, x: int, head: int, atom: int) -> int:
    """Count the facts of x and a head whose other end is in a frontier that was just made."""
    run, count = run_of(edges, x, head), 0
    if run >= 0 and frontiers.size[atom]:
        for edge in range(edges.run_first[run], edges.run_first[run + 1]):
            count += frontiers.mark[atom, edges.target[edge]] == frontiers.turn[0]
    return count


@compiled
def _order(count: int, body: np.ndarray) -> tuple[int, int]:
    """Return where to begin and how far to step, to visit `count` items in a mixed order."""
    mixed = 7919
    for atom in body:
        mixed = (mixed * 1_000_003 + atom + 1) % 2_147_483_647
    stride = 1 + mixed // 3 % max(count, 1)
    while True:
        a, b = stride, count
        while b:
            a, b = b, a % b
        if a == 1:
            return mixed % max(count, 1), stride
        stride += 1
