"""Which paths an answer rests on: the edges that move its score most, joined into chains.

The importance of an edge is the slope of the score in a weight on the edge, summed over all steps
(Zhu et al. 2021, NBFNet, section 3.4). The best chain of each length maximises the mean log
importance of its edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import relu

from kgraft.graph import Fact
from kgraft.reason.paths.balls import Balls, draw_balls
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.reasoner import Reasoner

LEAST = 1e-9  # importance, so that its logarithm is finite
AT_ONCE = 1 << 18  # edges whose importance is worked out together
EXPLAINED = 20_000  # entities of the ball in which paths are looked for


@dataclass(frozen=True)
class FoundPath:
    """A chain of facts from the asked entity to the answer."""

    facts: tuple[Fact, ...]
    importance: float  # mean of its edges' logarithms


def find_paths(
    reasoner: Reasoner,
    graph: PathGraph,
    entity: int,
    relation: int,
    answer: int,
    *,
    limit: int = 3,
    most: int = EXPLAINED,
) -> list[FoundPath]:
    """Return the most important paths of an answer; the asked fact itself is on none of them."""
    balls = draw_balls(
        graph.edges,
        graph.relations,
        np.array([entity]),
        steps=reasoner.config.entity_layers,
        asked=np.array([relation]),
        answer=np.array([answer]),
        most=most,
    )
    row = np.flatnonzero(balls.entity == answer)
    if not len(row) or answer == entity:
        return []
    importance = edge_importance(reasoner, graph, balls, relation, int(row[0]))
    chains = best_chains(balls, importance, int(row[0]), reasoner.config.entity_layers)
    paths = [FoundPath(_facts(balls, chain, graph.relations), score) for chain, score in chains]
    return sorted(paths, key=lambda path: -path.importance)[:limit]


def edge_importance(
    reasoner: Reasoner, graph: PathGraph, balls: Balls, relation: int, row: int
) -> np.ndarray:
    """Return how much the score of a row of a ball rests on each of its edges, (E,)."""
    direct = torch.tensor([relation % graph.relations])
    with torch.no_grad():
        vectors = reasoner.relation_vectors(graph, direct)
    trace: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
    with torch.enable_grad():
        reached, _ = reasoner.path_scores(balls, vectors, vectors[:, relation], trace=trace)
        slopes = torch.autograd.grad(reached[row], [arrived for *_, arrived in trace])
    node = np.repeat(np.arange(balls.edges.nodes), np.diff(balls.edges.bounds))
    total = torch.zeros(len(balls.edges))
    for (states, weights, _), slope in zip(trace, slopes, strict=True):
        total += _step_importance(balls, node, states, weights, slope[0])
    return relu(total).numpy()


def _step_importance(
    balls: Balls,
    node: np.ndarray,
    states: torch.Tensor,
    weights: torch.Tensor,
    slope: torch.Tensor,
) -> torch.Tensor:
    """Return slope[v] · (states[x] ∘ weights[r]) of each edge (v, r, x) in use, (E,)."""
    edges = balls.edges
    total = torch.zeros(len(edges))
    used = np.flatnonzero((edges.neighbour < states.shape[1]) & (node < len(slope)))
    for first in range(0, len(used), AT_ONCE):
        part = used[first : first + AT_ONCE]
        near, kind, far = (
            torch.from_numpy(column[part]).long()
            for column in (node, edges.relation, edges.neighbour)
        )
        sent = states.detach()[0, far] * weights.detach()[0, kind]
        total[torch.from_numpy(part)] = (slope[near] * sent).sum(1)
    return total


def best_chains(
    balls: Balls, importance: np.ndarray, row: int, steps: int
) -> list[tuple[list[int], float]]:
    """Return the best chain of edges of each length from the head to a row, with its mean log."""
    edges = balls.edges
    node = np.repeat(np.arange(edges.nodes), np.diff(edges.bounds))
    cost = np.log(importance + LEAST)
    best = np.full(edges.nodes, -np.inf)
    best[0] = 0.0  # the head is the first row
    arrivals: list[np.ndarray] = []
    chains = []
    for length in range(1, steps + 1):
        via, best = _best_edges(node, best[edges.neighbour] + cost, edges.nodes)
        arrivals.append(via)
        if np.isfinite(best[row]):
            chain = _walk_back(edges.neighbour, arrivals, row)
            if _is_simple(edges.neighbour, chain, row):
                chains.append((chain, float(best[row] / length)))
    return chains


def _best_edges(node: np.ndarray, scores: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the best edge of each node, -1 for none, and its score."""
    order = np.lexsort((scores, node))
    is_last = np.ones(len(order), bool)
    is_last[:-1] = node[order][1:] != node[order][:-1]
    chosen = order[is_last]
    edge, best = np.full(nodes, -1), np.full(nodes, -np.inf)
    edge[node[chosen]], best[node[chosen]] = chosen, scores[chosen]
    return edge, best


def _walk_back(neighbour: np.ndarray, arrivals: list[np.ndarray], row: int) -> list[int]:
    """Return the edges of a chain in order, from the head on."""
    chain = []
    for via in reversed(arrivals):
        edge = int(via[row])
        chain.append(edge)
        row = int(neighbour[edge])
    return chain[::-1]


def _is_simple(neighbour: np.ndarray, chain: list[int], row: int) -> bool:
    """Tell whether a chain passes no entity twice."""
    rows = [*(int(neighbour[edge]) for edge in chain), row]
    return len(set(rows)) == len(rows)


def _facts(balls: Balls, chain: list[int], relations: int) -> tuple[Fact, ...]:
    edges = balls.edges
    node = np.searchsorted(edges.bounds, chain, side="right") - 1
    facts = []
    for edge, row in zip(chain, node.tolist(), strict=True):
        near, far = int(balls.entity[row]), int(balls.entity[edges.neighbour[edge]])
        kind = int(edges.relation[edge])  # of the one query of these balls: 0 … 2R − 1
        facts.append(
            Fact(near, kind, far) if kind < relations else Fact(far, kind - relations, near)
        )
    return tuple(facts)
