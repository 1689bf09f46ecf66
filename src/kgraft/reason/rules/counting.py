"""How often the body of a path rule holds, and how often its heads hold with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.hashing import mix
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
    *,
    groundings: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> BodyCounts:
    """Count pairs (X, Y) for bodies (B, 3) and their heads heads[head_bounds[i]:head_bounds[i + 1]].

    Once `groundings` edges were visited for a body, the entities X not yet begun with are left
    out, and the counts scaled up.
    """
    start = mix(np.arange(len(bodies)).astype(np.uint64) + np.uint64(seed) * np.uint64(7919))
    start = (start >> np.uint64(2)).astype(np.int64)
    body_count, visited = np.zeros(len(bodies)), np.zeros(len(bodies))
    support = np.zeros(len(heads))

    def count(begin: int, end: int) -> None:
        own = slice(head_bounds[begin], head_bounds[end])
        _count(
            edges,
            bodies[begin:end],
            head_bounds[begin : end + 1] - head_bounds[begin],
            heads[own],
            groundings,
            start[begin:end],
            body_count[begin:end],
            visited[begin:end],
            support[own],
        )

    in_shares(count, len(bodies), progress)
    scale = 1 / np.maximum(visited, 1e-12)
    owner = np.repeat(np.arange(len(bodies)), np.diff(head_bounds))
    return BodyCounts(
        np.rint(body_count * scale).astype(np.int64),
        np.rint(support * scale[owner]).astype(np.int64),
        visited < 1,
    )


@compiled
def _count(
    edges: Edges,
    bodies: np.ndarray,
    head_bounds: np.ndarray,
    heads: np.ndarray,
    groundings: int,
    start: np.ndarray,
    body_count: np.ndarray,
    visited: np.ndarray,
    support: np.ndarray,
) -> None:
    frontiers = make_frontiers(len(edges.run_bounds) - 1)
    for i in range(len(bodies)):
        first = edges.source_bounds[bodies[i, 0]]
        sources = edges.sources[first : edges.source_bounds[bodies[i, 0] + 1]]
        stride = _stride(len(sources), start[i])
        steps, begun = 0, 0
        while begun < len(sources) and steps < groundings:
            x = sources[(start[i] % len(sources) + begun * stride) % len(sources)]
            begun += 1
            steps += follow(edges, frontiers, x, bodies[i], 0)
            body_count[i] += frontiers.size[last_atom(bodies[i])]
            for h in range(head_bounds[i], head_bounds[i + 1]):
                support[h] += _explained(edges, frontiers, x, heads[h], last_atom(bodies[i]))
        visited[i] = begun / max(len(sources), 1)


@compiled
def _explained(edges: Edges, frontiers: Frontiers, x: int, head: int, atom: int) -> int:
    """Count the facts of x and a head whose other end is in a frontier that was just made."""
    run, count = run_of(edges, x, head), 0
    if run >= 0 and frontiers.size[atom]:
        for edge in range(edges.run_first[run], edges.run_first[run + 1]):
            count += frontiers.mark[atom, edges.target[edge]] == frontiers.turn[0]
    return count


@compiled
def _stride(count: int, start: int) -> int:
    """Return a step that visits each of `count` items once, in an order that looks random."""
    stride = max(1, (start >> 20) % max(count, 1))
    while True:
        a, b = stride, count
        while b:
            a, b = b, a % b
        if a == 1:
            return stride
        stride += 1
