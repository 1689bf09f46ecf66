"""Following a body of relations from one entity: which entities each of its variables can be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgraft.reason.kernels import compiled
from kgraft.reason.rules.edges import Edges, run_of
from kgraft.reason.rules.rule_set import LONGEST

MANY = -2  # in place of the one entity through which another is reached


class Frontiers(NamedTuple):
    """The entities that each variable of a body can be, given X.

    Different variables mean different entities. For Zᵢ it is enough to know the one Zᵢ₋₁ through
    which it is reached, or that there are several: one of them differs from Zᵢ₊₁.
    """

    size: np.ndarray  # (3,)
    entity: np.ndarray  # (3, N) the first `size` of each row
    through: np.ndarray  # (3, N) by entity: the only one it is reached through, or MANY
    mark: np.ndarray  # (3, N) by entity: the turn in which it was reached
    turn: np.ndarray  # (1,)


@compiled
def make_frontiers(entities: int) -> Frontiers:
    """Return room for the frontiers of a graph."""
    return Frontiers(
        np.zeros(LONGEST, np.int64),
        np.empty((LONGEST, entities), np.int32),
        np.empty((LONGEST, entities), np.int32),
        np.zeros((LONGEST, entities), np.int64),
        np.zeros(1, np.int64),
    )


@compiled
def last_atom(body: np.ndarray) -> int:
    """Return the index of the last atom of a body."""
    last = 0
    while last + 1 < len(body) and body[last + 1] >= 0:
        last += 1
    return last


@compiled
def follow(edges: Edges, frontiers: Frontiers, x: int, body: np.ndarray, begin: int) -> int:
    """Find the entities of each variable behind atom `begin`; return how many edges were visited.

    The frontiers of the atoms before are those of the last call.
    """
    steps = 0
    for atom in range(begin, last_atom(body) + 1):
        frontiers.size[atom] = 0
        frontiers.turn[0] += 1
        if atom == 0:
            steps += _reach(edges, frontiers, x, x, x, body[0], 0)
            continue
        for i in range(frontiers.size[atom - 1]):
            near = frontiers.entity[atom - 1, i]
            through = x if atom == 1 else frontiers.through[atom - 1, near]
            steps += _reach(edges, frontiers, x, near, through, body[atom], atom)
    return steps


@compiled
def _reach(
    edges: Edges, frontiers: Frontiers, x: int, near: int, through: int, relation: int, atom: int
) -> int:
    """Add to a frontier what one entity leads to."""
    run = run_of(edges, near, relation)
    if run < 0:
        return 1
    begin, end = edges.run_first[run], edges.run_first[run + 1]
    turn, size = frontiers.turn[0], frontiers.size[atom]
    for edge in range(begin, end):
        far = edges.target[edge]
        if far == x or far == through:  # noqa: SIM109
            continue
        if frontiers.mark[atom, far] != turn:
            frontiers.mark[atom, far] = turn
            frontiers.through[atom, far] = near
            frontiers.entity[atom, size] = far
            size += 1
        elif frontiers.through[atom, far] != near:
            frontiers.through[atom, far] = MANY
    frontiers.size[atom] = size
    return 1 + end - begin
