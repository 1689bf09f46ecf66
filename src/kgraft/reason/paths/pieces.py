"""Pieces of graphs: connected parts of a size that a step of training can work on."""

from __future__ import annotations

import numpy as np

from kgraft.arrays import expand
from kgraft.reason.paths.edge_rows import EdgeRows
from kgraft.reason.paths.path_graph import PathGraph

FEWEST = 2  # entities of a piece: those of one triple at least
BRANCHES = 20  # neighbours of an entity that a piece takes at once
MIRRORED, TURNED, MERGED = 0.15, 0.3, 0.05  # fractions of relations that are altered


def draw_piece(graph: PathGraph, size: int, generator: np.random.Generator) -> PathGraph:
    """Draw a piece of about `size` entities, with all triples between them.

    Relations that do not occur in it are left out.
    """
    members = draw_members(graph.edges, max(size, FEWEST), generator)
    local = np.full(graph.entities, -1)
    local[members] = np.arange(len(members))
    head, tail = local[graph.triples[:, 0]], local[graph.triples[:, 2]]
    inside = (head >= 0) & (tail >= 0)
    relations, relation = np.unique(graph.triples[inside, 1], return_inverse=True)
    triples = np.stack([head[inside], relation, tail[inside]], axis=1)
    triples = alter_relations(triples, len(relations), generator)
    return PathGraph.of(triples, len(members), int(triples[:, 1].max()) + 1)


def alter_relations(
    triples: np.ndarray, relations: int, generator: np.random.Generator
) -> np.ndarray:
    """Change some relations of a piece, so that pieces of few graphs have relations of many kinds.

    Some become symmetric, some are turned round, some are one with another; all facts stay facts.
    """
    fate = generator.random(relations)
    is_turned = (fate > 1 - TURNED)[triples[:, 1]]
    triples = np.where(is_turned[:, None], triples[:, ::-1], triples)
    is_mirrored = (fate < MIRRORED)[triples[:, 1]]
    is_mirrored &= generator.random(len(triples)) < generator.random()
    altered = np.concatenate([triples, triples[is_mirrored, ::-1]])
    merged = _merge_relations(relations, generator)[altered[:, 1]]
    _, altered[:, 1] = np.unique(merged, return_inverse=True)
    return np.unique(altered, axis=0)


def _merge_relations(relations: int, generator: np.random.Generator) -> np.ndarray:
    """Return what each relation becomes: some become another one, the others stay themselves."""
    merged = np.arange(relations)
    is_merged = generator.random(relations) < MERGED
    merged[is_merged] = generator.integers(relations, size=int(is_merged.sum()))
    return merged


def draw_members(edges: EdgeRows, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return entities around random ones, at most `size`, ascending."""
    is_member = np.zeros(edges.nodes, bool)
    connected = np.flatnonzero(np.diff(edges.bounds))
    frontier = connected[:0]
    count = 0
    for _ in range(size):  # each turn adds an entity at least
        if count >= min(size, len(connected)):
            break
        if not len(frontier):
            outside = connected[~is_member[connected]]
            frontier = generator.choice(outside, 1)
            is_member[frontier] = True
            count += 1
        new = _neighbours(edges, frontier, generator)
        new = new[~is_member[new]]
        new = generator.permutation(new)[: size - count]
        is_member[new] = True
        count += len(new)
        frontier = new
    return np.flatnonzero(is_member)


def _neighbours(edges: EdgeRows, nodes: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return distinct neighbours of nodes; of a hub some at random."""
    first, last = edges.bounds[nodes], edges.bounds[nodes + 1]
    is_hub = last - first > BRANCHES
    near = edges.neighbour[expand(first[~is_hub], last[~is_hub])[1]]
    hubs = (last - first)[is_hub]
    drawn = first[is_hub][:, None] + (
        generator.random((len(hubs), BRANCHES)) * hubs[:, None]
    ).astype(np.int64)
    return np.unique(np.concatenate([near, edges.neighbour[drawn.reshape(-1)]]))
