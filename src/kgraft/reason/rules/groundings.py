"""One grounding of a rule: the facts of the graph that it rests on for one answer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kgraft.graph import Fact
from kgraft.reason.kernels import compiled
from kgraft.reason.rules.edges import Edges, run_of
from kgraft.reason.rules.rule_set import RuleSet


def ground(
    rules: RuleSet, row: int, edges: Edges, entity: int, relation: int, answer: int
) -> tuple[int, list[Fact]] | None:
    """Return where a chain of facts begins, and the facts; None if the rule does not fire.

    The rule has the relation of the query (entity, relation, ?), or its inverse, as its head.
    """
    if rules.head[row] != relation:
        entity, answer = answer, entity
    body = [int(atom) for atom in rules.body[row] if atom >= 0]
    if rules.constant[row] < 0:
        chain = first_chain(edges, entity, answer, np.array(body)).tolist()
        return (entity, _facts(chain, body, edges.relations)) if chain else None
    if answer != rules.constant[row]:
        return None
    if not body:
        return entity, []
    end = int(rules.body_constant[row])
    ends = edges.targets(entity, body[0])
    ends = ends[ends == end] if end >= 0 else ends[ends != answer]
    return (entity, _facts([entity, int(ends[0])], body, edges.relations)) if len(ends) else None


@compiled
def first_chain(edges: Edges, start: int, end: int, body: np.ndarray) -> np.ndarray:
    """Return the entities of the first chain of a body from start to end, none of them twice.

    Without any chain the result is empty.
    """
    chain = np.full(len(body) + 1, -1, np.int64)
    chain[0], chain[-1] = start, end
    edge = np.zeros(len(body), np.int64)  # the next edge to try, by atom
    atom = 0
    edge[0] = _span(edges, start, body[0])[0]
    while atom >= 0:
        if atom == len(body) - 1:
            begin, last = _span(edges, chain[atom], body[atom])
            if (edges.target[begin:last] == end).any():
                return chain
            atom -= 1
        else:
            atom = _extend(edges, chain, body, edge, atom)
    return chain[:0]


@compiled
def _extend(edges: Edges, chain: np.ndarray, body: np.ndarray, edge: np.ndarray, atom: int) -> int:
    """Try the next edge of an atom; return the atom to try then.

    That is the one behind if the chain could be extended, the one before if no edge was left.
    """
    if edge[atom] == _span(edges, chain[atom], body[atom])[1]:
        return atom - 1
    far = edges.target[edge[atom]]
    edge[atom] += 1
    if far == chain[-1] or (chain[: atom + 1] == far).any():
        return atom
    chain[atom + 1] = far
    edge[atom + 1] = _span(edges, far, body[atom + 1])[0]
    return atom + 1


@compiled
def _span(edges: Edges, entity: int, relation: int) -> tuple[int, int]:
    run = run_of(edges, entity, relation)
    return (edges.run_first[run], edges.run_first[run + 1]) if run >= 0 else (0, 0)


def _facts(chain: list[int], body: list[int], relations: int) -> list[Fact]:
    facts = []
    for (near, far), atom in zip(pairwise(chain), body, strict=True):
        inverse = atom >= relations
        facts.append(Fact(far, atom - relations, near) if inverse else Fact(near, atom, far))
    return facts
