"""What is known: graphs imported, opened, looked up, sampled, found in text, changed."""

from kgraft.graph.abbreviations import find_definitions, may_stand_for
from kgraft.graph.adjacency import Adjacency, TripleArrays
from kgraft.graph.alias_build import Form
from kgraft.graph.aliases import Aliases, Matches
from kgraft.graph.batches import SPLITS, Refusals, Source, Split
from kgraft.graph.build import build_graph
from kgraft.graph.check import check_graph
from kgraft.graph.diff import GraphDiff, diff_graphs
from kgraft.graph.entity import (
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
from kgraft.graph.facts import add_fact, remove_parts
from kgraft.graph.folder import Manifest
from kgraft.graph.graph import Graph
from kgraft.graph.literals import Literal
from kgraft.graph.matcher import NameMatcher
from kgraft.graph.mentions import IGNORED, UNKNOWN, Match, Mentions
from kgraft.graph.merge import merge_graphs
from kgraft.graph.migrate import migrate_graph
from kgraft.graph.paths import Fact, Subgraph
from kgraft.graph.profile import GraphProfile, profile_graph
from kgraft.graph.profile_picture import profile_svg
from kgraft.graph.query import Solutions
from kgraft.graph.readers import FORMATS, open_source
from kgraft.graph.readers.tables import TablesSource, from_networkx
from kgraft.graph.resplit import mirrored_relations, split_graph
from kgraft.graph.sampling import Hop, Walks, random_walks, sample_neighbourhood
from kgraft.graph.sparql import query_sparql
from kgraft.graph.tokenised import TokenisedTexts, covered_words
from kgraft.graph.variants import stem
from kgraft.graph.verbalise import fill_pattern, placeholders, says_both_ends
from kgraft.graph.words import english_words, ordinary_frequency, word_languages
from kgraft.graph.writers import (
    WRITERS,
    export_graph,
    to_edge_index,
    to_labelled_triples,
    to_networkx,
)
from kgraft.graph.writers.tsv import escaped

__all__ = [
    "FORMATS",
    "IGNORED",
    "SPLITS",
    "UNKNOWN",
    "WRITERS",
    "Adjacency",
    "Aliases",
    "Candidate",
    "Card",
    "Entity",
    "EntityLike",
    "Fact",
    "Form",
    "Found",
    "Graph",
    "GraphDiff",
    "GraphPath",
    "GraphProfile",
    "Hop",
    "Literal",
    "Manifest",
    "Match",
    "Matches",
    "Mention",
    "Mentions",
    "NameMatcher",
    "Neighbour",
    "Refusals",
    "Relation",
    "Solutions",
    "Source",
    "Split",
    "Subgraph",
    "TablesSource",
    "TokenisedTexts",
    "TripleArrays",
    "Walks",
    "add_fact",
    "build_graph",
    "check_graph",
    "covered_words",
    "diff_graphs",
    "english_words",
    "escaped",
    "export_graph",
    "fill_pattern",
    "find_definitions",
    "from_networkx",
    "may_stand_for",
    "merge_graphs",
    "migrate_graph",
    "mirrored_relations",
    "open_source",
    "ordinary_frequency",
    "placeholders",
    "profile_graph",
    "profile_svg",
    "query_sparql",
    "random_walks",
    "remove_parts",
    "sample_neighbourhood",
    "says_both_ends",
    "split_graph",
    "stem",
    "to_edge_index",
    "to_labelled_triples",
    "to_networkx",
    "word_languages",
]
