from .adjacency import Adjacency, TripleArrays
from .batches import SPLITS, Refusals, Source
from .build import build_graph
from .check import check_graph
from .diff import GraphDiff, diff_graphs
from .entity import (
    Candidate,
    Card,
    Entity,
    EntityLike,
    Found,
    GraphPath,
    Mention,
    Neighbour,
    Relation,
)
from .example_data import examples, write_example
from .facts import add_fact, read_triples, remove_parts
from .folder import Manifest
from .graph import Graph
from .io.arrays import to_edge_index, to_labelled_triples, to_networkx
from .io.export import export_graph
from .io.formats import open_source
from .io.readers import FORMATS
from .io.tables.in_memory import TablesSource, from_networkx
from .io.writers import WRITERS
from .literals import Literal
from .mentions import IGNORED, UNKNOWN, Match, Mentions
from .merge import merge_graphs
from .migrate import is_current, migrate_graph
from .paths import Fact
from .profile import GraphProfile, profile_graph
from .profile_page import profile_svg
from .query import Solutions
from .resplit import split_graph
from .sampling import Hop, random_walks, sample_neighbourhood
from .sparql import query_sparql
from .verbalise import fill_pattern, placeholders, says_both_ends

__all__ = [
    "FORMATS",
    "IGNORED",
    "SPLITS",
    "UNKNOWN",
    "WRITERS",
    "Adjacency",
    "Candidate",
    "Card",
    "Entity",
    "EntityLike",
    "Fact",
    "Found",
    "Graph",
    "GraphDiff",
    "GraphPath",
    "GraphProfile",
    "Hop",
    "Literal",
    "Manifest",
    "Match",
    "Mention",
    "Mentions",
    "Neighbour",
    "Refusals",
    "Relation",
    "Solutions",
    "Source",
    "TablesSource",
    "TripleArrays",
    "add_fact",
    "build_graph",
    "check_graph",
    "diff_graphs",
    "examples",
    "export_graph",
    "fill_pattern",
    "from_networkx",
    "is_current",
    "merge_graphs",
    "migrate_graph",
    "open_source",
    "placeholders",
    "profile_graph",
    "profile_svg",
    "query_sparql",
    "random_walks",
    "read_triples",
    "remove_parts",
    "sample_neighbourhood",
    "says_both_ends",
    "split_graph",
    "to_edge_index",
    "to_labelled_triples",
    "to_networkx",
    "write_example",
]
