"""What is known: graphs imported, opened, looked up, sampled, found in text, changed."""

from kgraft.graph.adjacency import Adjacency, TripleArrays
from kgraft.graph.aliases import Aliases, Matches
from kgraft.graph.batches import SPLITS, Refusals, Source, Split
from kgraft.graph.build import build_graph
from kgraft.graph.check import check_graph
from kgraft.graph.diff import GraphDiff, diff_graphs
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
from kgraft.graph.facts import add_fact, remove_parts
from kgraft.graph.folder import Manifest
from kgraft.graph.graph import Graph
from kgraft.graph.literals import Literal
from kgraft.graph.merge import merge_graphs
from kgraft.graph.migrate import migrate_graph
from kgraft.graph.paths import Subgraph
from kgraft.graph.profile import GraphProfile, profile_graph
from kgraft.graph.profile_picture import profile_svg
from kgraft.graph.query import Solutions
from kgraft.graph.readers import FORMATS, open_source
from kgraft.graph.readers.tables import TablesSource, from_networkx
from kgraft.graph.resplit import mirrored_relations, split_graph
from kgraft.graph.sampling import Hop, Walks, random_walks, sample_neighbourhood
from kgraft.graph.sparql import query_sparql
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
    "GraphDiff",
    "GraphPath",
    "GraphProfile",
    "Hop",
    "Literal",
    "Manifest",
    "Matches",
    "Mention",
    "Neighbour",
    "Refusals",
    "Relation",
    "Solutions",
    "Source",
    "Split",
    "Subgraph",
    "TablesSource",
    "TripleArrays",
    "Walks",
    "add_fact",
    "build_graph",
    "check_graph",
    "diff_graphs",
    "export_graph",
    "from_networkx",
    "merge_graphs",
    "migrate_graph",
    "mirrored_relations",
    "open_source",
    "profile_graph",
    "profile_svg",
    "query_sparql",
    "random_walks",
    "remove_parts",
    "sample_neighbourhood",
    "split_graph",
    "to_edge_index",
    "to_labelled_triples",
    "to_networkx",
]
