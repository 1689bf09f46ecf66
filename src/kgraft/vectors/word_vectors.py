"""Word vectors: the words of an entity's text, as an encoder's own table of words has them.

An encoder predicts hidden words in the space of this table, so that it can read names from these
vectors directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from kgraft.arrays import expand
from kgraft.graph import Graph
from kgraft.vectors.entity_text import check_fields, entity_texts
from kgraft.vectors.entity_vectors import NONE, EntityVectors

if TYPE_CHECKING:
    from kgraft.text import Encoder


class WordVectors(EntityVectors):
    """The mean of the word vectors of an entity's label, or of other fields of its text.

    The mean of the table is subtracted, so that what all words share does not count. The table is
    copied when the vectors are made: training the encoder further does not change them.
    """

    def __init__(
        self, graph: Graph, encoder: Encoder, *, fields: Sequence[str] = ("label",)
    ) -> None:
        self.graph, self.fields = graph, check_fields(fields)
        table = encoder.words.detach()
        self._table = (table - table.mean(0)).float().cpu()
        self.dimension = self._table.shape[1]
        texts = entity_texts(graph, np.arange(len(graph.entities)), self.fields).to_pylist()
        tokens = encoder.windows(texts).tokens
        self._ids, self._bounds = torch.from_numpy(tokens.ids), np.asarray(tokens.bounds)

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        first, last = self._bounds[entities], self._bounds[entities + 1]
        _, rows = expand(first, last)
        starts = torch.from_numpy(np.append(0, np.cumsum(last - first))[:-1])
        words = self._ids[torch.from_numpy(rows)].long()
        return torch.nn.functional.embedding_bag(words, self._table, starts, mode="mean")

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        described = self._bounds[entities + 1] > self._bounds[entities]
        return np.where(described, "text", NONE)
