"""Bodies of path rules: which chains of relations lead from heads to tails of given facts."""

from __future__ import annotations

import numpy as np

from kgraft.arrays import expand
from kgraft.progress import Progress
from kgraft.reason.kernels import compiled, in_shares, with_room
from kgraft.reason.rules.edges import Edges

WINDOW = 256  # edges of a middle entity that one walk looks at
DRAWS = 16  # walks per fact
PATHS = 2048  # chains that are kept of one fact


def chain_keys(chains: np.ndarray, size: int) -> np.ndarray:
    """Pack chains (K, n) of relations below `size` into one number each, shorter ones ahead.

    >>> chain_keys(np.array([[1, 2], [1, -1]]), 10).tolist()
    [25, 22]
    """
    key = np.zeros(len(chains), np.int64)
    for column in chains.T:
        key = key * (size + 1) + column + 1
    return key


def chains_of(keys: np.ndarray, columns: int, size: int) -> np.ndarray:
    """Unpack what `chain_keys` packed."""
    powers = (size + 1) ** np.arange(columns - 1, -1, -1, dtype=np.int64)
    return (keys[:, None] // powers % (size + 1) - 1).astype(np.int32)


def fact_edges(edges: Edges) -> np.ndarray:
    """Return the edges that are facts as they stand, not inverses."""
    relation = np.repeat(edges.run_relation, np.diff(edges.run_first))
    return np.flatnonzero(relation < edges.relations)


def draw_facts(edges: Edges, per_relation: int, random: np.random.Generator) -> np.ndarray:
    """Draw facts of each relation, all where there are no more, as edges."""
    facts = fact_edges(edges)
    relation = np.repeat(edges.run_relation, np.diff(edges.run_first))[facts]
    order = np.lexsort((random.random(len(facts)), relation))
    first = np.searchsorted(relation[order], np.arange(edges.relations + 1))
    _, row = expand(first[:-1], np.minimum(first[1:], first[:-1] + per_relation))
    return facts[order[row]]


def count_chains(
    edges: Edges, facts: np.ndarray, longest: int, seed: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return keys of (relation, chain), ascending, and of how many facts each joins the ends.

    Chains up to length two are all seen; with `longest` 3 chains of
    exactly three are drawn at random.
    """
    source = np.repeat(edges.run_entity, np.diff(edges.run_first))
    relation = np.repeat(edges.run_relation, np.diff(edges.run_first))
    order = np.argsort(edges.target[facts], kind="stable")  # the marks of a tail are set once
    facts = facts[order]
    head, kind, tail = source[facts], relation[facts], edges.target[facts]

    def chains(begin: int, end: int) -> np.ndarray:
        part = slice(begin, end)
        return _chains(edges, head[part], kind[part], tail[part], longest, seed + begin)

    parts = in_shares(chains, len(facts), progress)
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]), return_counts=True)


@compiled
def _chains(
    edges: Edges,
    head: np.ndarray,
    relation: np.ndarray,
    tail: np.ndarray,
    longest: int,
    seed: int,
) -> np.ndarray:
    """Return the keys of chains, distinct within each fact; facts come in order of their tails."""
    np.random.seed(seed % 4_294_967_291)  # noqa: NPY002
    first = np.full(len(edges.run_bounds) - 1, -1, np.int64)  # the first edge to each neighbour
    following = np.empty(len(edges.target), np.int64)
    keys, size = np.empty(1 << 16, np.int64), 0
    buffer = np.empty(PATHS, np.int64)
    for i in range(len(head)):
        _mark_tail(edges, tail, i, first, following)
        fact = head[i], relation[i], tail[i]
        distinct = _chains_of_fact(edges, fact, longest, first, following, buffer)
        keys = with_room(keys, size + len(distinct))
        keys[size : size + len(distinct)] = distinct
        size += len(distinct)
    return keys[:size].copy()


@compiled
def _chains_of_fact(
    edges: Edges,
    fact: tuple[int, int, int],
    longest: int,
    first: np.ndarray,
    following: np.ndarray,
    buffer: np.ndarray,
) -> np.ndarray:
    """Return the distinct keys of chains from head to tail; `buffer` has room for all."""
    if longest < 3:
        size = _short_chains(edges, fact, first, following, buffer)
    else:
        size = _drawn_chains(edges, fact, first, following, buffer)
    return np.unique(buffer[:size])


@compiled
def _mark_tail(
    edges: Edges, tail: np.ndarray, row: int, first: np.ndarray, following: np.ndarray
) -> None:
    """Mark the edges of the tail of a fact, unless it is that of the fact before."""
    if row == 0 or tail[row] != tail[row - 1]:
        _mark(edges, tail[max(row - 1, 0)], first, following, False)
        _mark(edges, tail[row], first, following, True)


@compiled
def _mark(edges: Edges, entity: int, first: np.ndarray, following: np.ndarray, sets: bool) -> None:
    """Chain the edges of an entity by the neighbour they lead to, or forget them."""
    begin = edges.run_first[edges.run_bounds[entity]]
    end = edges.run_first[edges.run_bounds[entity + 1]]
    for edge in range(begin, end):
        neighbour = edges.target[edge]
        if sets:
            following[edge] = first[neighbour]
            first[neighbour] = edge
        else:
            first[neighbour] = -1


@compiled
def _relation_back(edges: Edges, edge: int) -> int:
    """Return the relation of the inverse of an edge."""
    return edges.run_relation[edges.inverse_run[edge]]


@compiled
def _relation_on(edges: Edges, edge: int) -> int:
    """Return the relation of an edge."""
    relation, half = _relation_back(edges, edge), (len(edges.source_bounds) - 1) // 2
    return relation + half if relation < half else relation - half


@compiled
def _close_chains(
    edges: Edges, prefix: int, back: int, following: np.ndarray, keys: np.ndarray, made: int
) -> int:
    """Write the keys of a chain with each of the marked edges from `back` on as its last."""
    while back >= 0 and made < len(keys):
        keys[made] = prefix * len(edges.source_bounds) + _relation_back(edges, back) + 1
        made += 1
        back = following[back]
    return made


@compiled
def _short_chains(
    edges: Edges,
    fact: tuple[int, int, int],
    first: np.ndarray,
    following: np.ndarray,
    keys: np.ndarray,
) -> int:
    """Write the keys of chains of one or two edges from head to tail; return how many."""
    head, relation, tail = fact
    size, made = len(edges.source_bounds), 0
    for run in range(edges.run_bounds[head], edges.run_bounds[head + 1]):
        base = (relation + 1) * size + edges.run_relation[run] + 1
        for edge in range(edges.run_first[run], edges.run_first[run + 1]):
            middle = edges.target[edge]
            if middle == tail:
                if edges.run_relation[run] != relation and made < len(keys):
                    keys[made] = base * size
                    made += 1
                continue
            made = _close_chains(edges, base, first[middle], following, keys, made)
    return made


@compiled
def _drawn_chains(
    edges: Edges,
    fact: tuple[int, int, int],
    first: np.ndarray,
    following: np.ndarray,
    keys: np.ndarray,
) -> int:
    """Write the keys of random chains of three edges from head to tail; return how many."""
    head, relation, tail = fact
    size, made = len(edges.source_bounds), 0
    runs = edges.run_bounds[head + 1] - edges.run_bounds[head]
    for _ in range(DRAWS):
        run = edges.run_bounds[head] + np.random.randint(runs)  # noqa: NPY002
        edge = np.random.randint(edges.run_first[run], edges.run_first[run + 1])  # noqa: NPY002
        near = edges.target[edge]
        if near == tail:
            continue
        base = (relation + 1) * size + edges.run_relation[run] + 1
        begin, end = _window(edges, near)
        for middle in range(begin, end):
            far = edges.target[middle]
            if far == head or far == tail:  # noqa: SIM109
                continue
            if first[far] >= 0:
                step = base * size + _relation_on(edges, middle) + 1
                made = _close_chains(edges, step, first[far], following, keys, made)
    return made


@compiled
def _window(edges: Edges, entity: int) -> tuple[int, int]:
    """Return some consecutive edges of an entity: all, or a random window of a hub's."""
    begin = edges.run_first[edges.run_bounds[entity]]
    end = edges.run_first[edges.run_bounds[entity + 1]]
    if end - begin > WINDOW:
        begin = np.random.randint(begin, end - WINDOW + 1)  # noqa: NPY002
        end = begin + WINDOW
    return begin, end
