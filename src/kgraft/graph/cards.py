"""Cards: an entity with its neighbours and values, the most telling facts first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgraft.arrays import run_starts
from kgraft.graph.adjacency import Adjacency, Direction
from kgraft.graph.entity import Card, Entity, Neighbour
from kgraft.graph.iri_names import PREFIXES
from kgraft.graph.literals import Literal
from kgraft.graph.stored import StoredGraph
from kgraft.graph.texts_as_literals import TEXT_FIELDS

if TYPE_CHECKING:
    from kgraft.graph.graph import Graph

_SHOWN_ANYWAY = {*TEXT_FIELDS, f"{PREFIXES['rdf']}type"}  # properties a card has a place for


def make_card(graph: Graph, entity: Entity, limit: int) -> Card:
    """Return an entity with up to `limit` facts and values."""
    rows = edge_rows(graph.adjacency, entity.index, "both")
    chosen = choose_facts(graph.adjacency, entity.index, rows, limit)
    neighbours = tuple(neighbours_at(graph, entity.index, chosen))
    return Card(entity, neighbours, len(rows), tuple(_other_literals(graph, entity)[:limit]))


def _other_literals(graph: Graph, entity: Entity) -> list[Literal]:
    literals = graph.literals(entity)
    return [literal for literal in literals if literal.property_id not in _SHOWN_ANYWAY]


def edge_rows(adjacency: Adjacency, entity: int, direction: Direction) -> np.ndarray:
    """Return the rows of an entity's edges."""
    first, last = adjacency.spans(np.array([entity]), direction)
    return np.arange(first[0], last[0])


def neighbours_at(graph: StoredGraph, entity: int, rows: np.ndarray) -> list[Neighbour]:
    """Return the far ends of an entity's edges, by their rows."""
    relation, other = graph.adjacency.edges[rows].T
    leaves = rows < graph.adjacency.spans(np.array([entity]), "out")[1]
    ends = zip(relation.tolist(), graph.entities_at(other), leaves.tolist(), strict=True)
    relations = graph.all_relations
    return [Neighbour(relations[r], e, "out" if out else "in") for r, e, out in ends]


def choose_facts(adjacency: Adjacency, entity: int, rows: np.ndarray, limit: int) -> np.ndarray:
    """Choose up to `limit` of an entity's edge rows, in their order.

    The first edge of every relation and direction comes before the second of any. A triple whose
    mirror image is an edge too (Peru borders Chile, Chile borders Peru) counts once.
    """
    relation, other = adjacency.edges[rows].T
    incoming = rows >= adjacency.bounds[2 * entity + 1]
    pair = relation.astype(np.int64) << 32 | other
    rows, relation, incoming = (
        part[~(incoming & np.isin(pair, pair[~incoming]))] for part in (rows, relation, incoming)
    )
    group = relation.astype(np.int64) * 2 + incoming
    begins = run_starts(group)
    row = np.arange(len(rows))
    turn = row - np.maximum.accumulate(np.where(begins, row, 0))
    return np.sort(rows[np.lexsort((row, turn))[:limit]])
