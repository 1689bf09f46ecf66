"""What is known: graphs imported, opened, looked up, sampled, found in text, changed."""

from kgraft.graph.adjacency import Adjacency, TripleArrays
from kgraft.graph.aliases import Aliases, Matches
from kgraft.graph.batches import SPLITS, Refusals, Source, Split
from kgraft.graph.build import build_graph
from kgraft.graph.check import check_graph
from kgraft.graph.entity import (
    Candidate,
    Card,
    Entity,
    Found,
    GraphPath,
    Mention,
    Neighbour,
    Relation,
)
from kgraft.graph.folder import Manifest
from kgraft.graph.graph import Graph
from kgraft.graph.literals import Literal
from kgraft.graph.paths import Subgraph
from kgraft.graph.readers import FORMATS, open_source
from kgraft.graph.readers.tables import TablesSource, from_networkx
from kgraft.graph.sampling import Hop, Walks, random_walks, sample_neighbourhood
from kgraft.graph.writers import (
    WRITERS,
    export_graph,
    to_edge_index,
    to_labelled_triples,
    to_networkx,
)

__all__ = [
    "FORMATS",
    "SPLITS",
    "WRITERS",
    "Adjacency",
    "Aliases",
    "Candidate",
    "Card",
    "Entity",
    "Found",
    "Graph",
    "GraphPath",
    "Hop",
    "Literal",
    "Manifest",
    "Matches",
    "Mention",
    "Neighbour",
    "Refusals",
    "Relation",
    "Source",
    "Split",
    "Subgraph",
    "TablesSource",
    "TripleArrays",
    "Walks",
    "build_graph",
    "check_graph",
    "export_graph",
    "from_networkx",
    "open_source",
    "random_walks",
    "sample_neighbourhood",
    "to_edge_index",
    "to_labelled_triples",
    "to_networkx",
]
