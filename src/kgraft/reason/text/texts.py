"""What a text completer reads: entities by label and description, queries with the relation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.graph import Graph
from kgraft.reason.memory.slots import SlotWords, entity_names
from kgraft.vectors import entity_texts


class CompletionTexts:
    """Says entities and queries of a graph in words.

    An entity is its label with its description. A query is the entity with the relation, the
    answer left open, then the description: "Paris is the capital of: city in Europe". What is most
    needed stands first, for long texts are cut off.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph, self._words = graph, SlotWords(graph)

    def entities(self, entities: np.ndarray) -> pa.Array:
        """Return the text of each entity (n,); its name where it has neither label nor text."""
        texts = entity_texts(self.graph, entities, ("label", "description"))
        texts = texts.cast(pa.large_string())
        return pc.if_else(pc.equal(texts, ""), entity_names(self.graph, entities), texts)

    def queries(self, entities: np.ndarray, relations: np.ndarray) -> pa.Array:
        """Return the text of each query (n,), for relations 0…R−1 and R…2R−1 for inverses."""
        words = self._words(entities, relations)
        described = entity_texts(self.graph, entities, ("description",)).cast(pa.large_string())
        separator = pc.if_else(pc.equal(described, ""), "", ": ").cast(pa.large_string())
        empty = pa.scalar("", pa.large_string())
        return pc.binary_join_element_wise(words, separator, described, empty)
