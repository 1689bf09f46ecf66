"""Relation paths between entities: which relations lead from one to the other, in which direction.

A path is known by its relations alone: of all chains of facts from one entity to another that take
the same relations, one sequence is kept. A step ρ below R follows a fact from head to tail, R + r
follows one of relation r from tail to head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kgraft.arrays import expand, run_starts
from kgraft.errors import BadInput
from kgraft.graph import Graph

if TYPE_CHECKING:
    from kgraft.graft.path_kernel import Edges

LONGEST = 3  # steps
MOST = 8  # sequences per pair: the shortest, then those through the rarest entities
ROOM = 1 << 14  # edges that are looked at for paths of three steps between two entities
MOST_RELATIONS = 1_000_000  # the codes of three steps have 63 bits
END = -1  # in place of a step: there is none


class PairPaths(NamedTuple):
    """The relation paths of pairs of entities; a weight below 1 says that a fact is not certain."""

    pair: np.ndarray  # (n,) row of the pair
    code: np.ndarray  # (n,) see `StepCodes`
    weight: np.ndarray  # (n,) float32


class StepCodes:
    """Sequences of up to three steps as single numbers.

    >>> codes = StepCodes(relations=5)
    >>> codes.steps(codes.inverse(np.array([3 * 11 + 8]))).tolist()  # steps 2 and 7, R + 2
    [[-1, 2, 7]]
    """

    def __init__(self, relations: int) -> None:
        self.relations, self.base = relations, 2 * relations + 1

    def steps(self, code: np.ndarray) -> np.ndarray:
        """Return the steps of sequences, (n, 3); shorter ones stand at the end of their row."""
        digits = [code // self.base**power % self.base for power in reversed(range(LONGEST))]
        return np.stack(digits, axis=-1) + END

    def inverse(self, code: np.ndarray) -> np.ndarray:
        """Return the same sequences from their other ends."""
        inverted = np.zeros_like(code)
        for step in self.steps(code).T[::-1]:
            turned = (step + self.relations) % (2 * self.relations)
            inverted = np.where(step == END, inverted, inverted * self.base + turned + 1)
        return inverted


class PathIndex:
    """The facts of a graph, as the search for paths needs them."""

    def __init__(self, graph: Graph) -> None:
        relations, self.entities = len(graph.relations), len(graph.entities)
        if relations > MOST_RELATIONS:
            reason = f"the graph has {relations:,} relations"
            raise BadInput(reason, remedy=f"give one with at most {MOST_RELATIONS:,}")
        self.codes = StepCodes(relations)
        source, relation, target = graph.triples.with_inverses(relations)
        rows = np.flatnonzero(source != target)
        rows = rows[np.lexsort((relation[rows], target[rows], source[rows]))]
        rows = rows[run_starts(source[rows], target[rows], relation[rows])]
        counts = np.bincount(source[rows], minlength=self.entities)
        self.bounds = np.append(0, np.cumsum(counts))
        self.target, self.relation = target[rows], relation[rows]

    def between(
        self, source: np.ndarray, target: np.ndarray, *, longest: int = LONGEST, most: int = MOST
    ) -> PairPaths:
        """Return the paths of pairs of entities (P,), without repeated entities.

        Each pair has the shortest of them, up to `most`, and of equally long ones those that lead
        through rarer entities. Paths of three steps are looked for among so many edges only that
        hubs cannot take all the time.
        """
        from kgraft.graft.path_kernel import search_paths

        turned = self._is_turned(source, target)
        near, far = np.where(turned, target, source), np.where(turned, source, target)
        keys, row = np.unique(far * self.entities + near, return_inverse=True)
        far, near = np.divmod(keys, max(self.entities, 1))
        codes, counts = search_paths(self._edges, near, far, longest, ROOM, most)
        counts[near == far] = 0
        pair, rank = expand(np.zeros(len(row), np.int64), counts[row])
        code = codes[row[pair], rank]
        code = np.where(turned[pair], self.codes.inverse(code), code)
        return PairPaths(pair, code, np.ones(len(pair), np.float32))

    @property
    def _edges(self) -> Edges:
        from kgraft.graft.path_kernel import Edges

        return Edges(self.bounds, self.target, self.relation, self.codes.base)

    def _is_turned(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return which pairs are searched from their target: it has fewer edges."""
        degrees = np.diff(self.bounds)
        near, far = degrees[source], degrees[target]
        return (far < near) | ((far == near) & (target < source))
