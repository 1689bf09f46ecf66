"""Entities as vectors: a trained table, encoded text, both together; also for unseen entities."""

from kgraft.vectors.ancestor_vectors import AncestorVectors
from kgraft.vectors.attention_vectors import AttentionVectors, MemoryVectors
from kgraft.vectors.combined import CombinedVectors
from kgraft.vectors.entity_vectors import EntityVectors, Near
from kgraft.vectors.folder import (
    VECTORS,
    StoredVectors,
    VectorsManifest,
    read_vectors,
    write_table_vectors,
)
from kgraft.vectors.from_text import FromText
from kgraft.vectors.graph_attention import GraphAttention, GraphAttentionSettings
from kgraft.vectors.memory import Memory, Refreshing
from kgraft.vectors.neighbour_vectors import NeighbourVectors
from kgraft.vectors.neighbours import FromNeighbours
from kgraft.vectors.table import TableVectors
from kgraft.vectors.text_vectors import TextVectors
from kgraft.vectors.trained import TrainedRows
from kgraft.vectors.unseen import Filled, InOrder, Unseen
from kgraft.vectors.word_vectors import WordVectors

__all__ = [
    "VECTORS",
    "AncestorVectors",
    "AttentionVectors",
    "CombinedVectors",
    "EntityVectors",
    "Filled",
    "FromNeighbours",
    "FromText",
    "GraphAttention",
    "GraphAttentionSettings",
    "InOrder",
    "Memory",
    "MemoryVectors",
    "Near",
    "NeighbourVectors",
    "Refreshing",
    "StoredVectors",
    "TableVectors",
    "TextVectors",
    "TrainedRows",
    "Unseen",
    "VectorsManifest",
    "WordVectors",
    "read_vectors",
    "write_table_vectors",
]
