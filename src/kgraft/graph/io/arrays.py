"""The graph as other libraries take it: NetworkX, PyTorch Geometric, PyKEEN."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy as np

from kgraft.errors import import_optional
from kgraft.graph.graph import Graph
from kgraft.graph.io.triple_blocks import triple_ids, triple_parts

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(graph: Graph) -> nx.MultiDiGraph:
    """Return a MultiDiGraph: nodes by id with their texts, edges with the relation's id as key.

    Other columns, and values by the id of their property, are attributes of nodes too: numbers and
    dates as such, without unit and language; several values of a property are a list.
    """
    made = import_optional("networkx", "networkx").MultiDiGraph(name=graph.manifest.name)
    columns = ["id", "label", "description", "aliases", "types"]
    for index, row in enumerate(graph.entities.select(columns).to_pylist()):
        values = _values(graph, index, columns)
        node = row.pop("id")
        made.add_node(node)
        made.nodes[node].update(row | values)
    for name, rows in triple_parts(graph):
        split = "train" if name == "triples" else name
        for parts in triple_ids(graph, rows):
            for head, relation, tail in zip(*(part.to_pylist() for part in parts), strict=True):
                made.add_edge(head, tail, key=relation, relation=relation, split=split)
    return made


def _values(graph: Graph, index: int, taken: Container[str]) -> dict[str, Any]:
    """Return the values of an entity by property, one as such, several as a list."""
    by_property: dict[str, list[Any]] = {}
    for literal in graph.literals(index):
        name = literal.property_id
        name = f"{name} (value)" if name in taken else name
        by_property.setdefault(name, []).append(literal.value)
    return {name: values[0] if len(values) == 1 else values for name, values in by_property.items()}


def to_edge_index(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return PyTorch Geometric's edge_index (2, E) and edge_type (E,), as int64 NumPy arrays.

    `torch.from_numpy` turns them into tensors without a copy.
    """
    facts = graph.triples
    return np.stack([facts.head, facts.tail]).astype(np.int64), facts.relation.astype(np.int64)


def to_labelled_triples(graph: Graph) -> np.ndarray:
    """Return all triples by id, (E, 3): PyKEEN's `TriplesFactory.from_labeled_triples` takes it."""
    blocks = [
        np.stack([np.array(part.to_pylist(), str) for part in parts], axis=1)
        for parts in triple_ids(graph, np.arange(len(graph.triples)))
    ]
    return np.concatenate(blocks) if blocks else np.zeros((0, 3), str)
