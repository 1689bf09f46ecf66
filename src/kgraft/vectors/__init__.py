"""Entities as vectors: a trained table, encoded text, both together; also for unseen entities."""

from kgraft.vectors.ancestor_vectors import AncestorVectors
from kgraft.vectors.attention_vectors import AttentionVectors, MemoryVectors
from kgraft.vectors.cold_start import ColdStart, ColdStartVectors, FallbackChain
from kgraft.vectors.combined import CombinedVectors
from kgraft.vectors.entity_text import entity_texts
from kgraft.vectors.entity_vectors import EntityVectors, SimilarEntity, same_graph
from kgraft.vectors.folder import (
    StoredVectors,
    VectorsConfig,
    read_vectors,
    write_table_vectors,
)
from kgraft.vectors.graph_attention import GraphAttention, GraphAttentionSettings, softmax_by
from kgraft.vectors.memory import Memory, RefreshSettings
from kgraft.vectors.neighbour_fallback import NeighbourFallback
from kgraft.vectors.neighbour_vectors import NeighbourVectors
from kgraft.vectors.neighbourhood import Neighbourhood, neighbourhoods
from kgraft.vectors.store import VectorStore
from kgraft.vectors.table import TableVectors
from kgraft.vectors.text_fallback import TextFallback
from kgraft.vectors.text_vectors import TextVectors
from kgraft.vectors.trained import TrainedRows
from kgraft.vectors.word_vectors import WordVectors

__all__ = [
    "AncestorVectors",
    "AttentionVectors",
    "ColdStart",
    "ColdStartVectors",
    "CombinedVectors",
    "EntityVectors",
    "FallbackChain",
    "GraphAttention",
    "GraphAttentionSettings",
    "Memory",
    "MemoryVectors",
    "NeighbourFallback",
    "NeighbourVectors",
    "Neighbourhood",
    "RefreshSettings",
    "SimilarEntity",
    "StoredVectors",
    "TableVectors",
    "TextFallback",
    "TextVectors",
    "TrainedRows",
    "VectorStore",
    "VectorsConfig",
    "WordVectors",
    "entity_texts",
    "neighbourhoods",
    "read_vectors",
    "same_graph",
    "softmax_by",
    "write_table_vectors",
]
