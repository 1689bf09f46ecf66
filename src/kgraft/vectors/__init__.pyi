from .ancestor_vectors import AncestorVectors
from .attention_vectors import AttentionVectors, MemoryVectors
from .cold_start import FallbackChain
from .combined import CombinedVectors
from .entity_text import ENTITY_FIELDS, entity_texts
from .entity_vectors import EntityVectors, SimilarEntity, same_graph
from .folder import StoredVectors, read_vectors, write_table_vectors
from .graph_attention import GraphAttention, softmax_by
from .index import EntityIndex
from .memory import Memory, Part
from .neighbour_fallback import NeighbourFallback
from .neighbour_vectors import NeighbourVectors
from .neighbourhood import neighbourhoods
from .settings import GraphAttentionSettings, RefreshSettings
from .store import VectorStore, cache_folder
from .table import TableVectors
from .text_cache import TextCache
from .text_fallback import TextFallback
from .text_vectors import TextVectors, text_keys
from .word_vectors import WordVectors

__all__ = [
    "ENTITY_FIELDS",
    "AncestorVectors",
    "AttentionVectors",
    "CombinedVectors",
    "EntityIndex",
    "EntityVectors",
    "FallbackChain",
    "GraphAttention",
    "GraphAttentionSettings",
    "Memory",
    "MemoryVectors",
    "NeighbourFallback",
    "NeighbourVectors",
    "Part",
    "RefreshSettings",
    "SimilarEntity",
    "StoredVectors",
    "TableVectors",
    "TextCache",
    "TextFallback",
    "TextVectors",
    "VectorStore",
    "WordVectors",
    "cache_folder",
    "entity_texts",
    "neighbourhoods",
    "read_vectors",
    "same_graph",
    "softmax_by",
    "text_keys",
    "write_table_vectors",
]
