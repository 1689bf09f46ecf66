"""Parts of speech as vectors."""

from __future__ import annotations

import numpy as np
import torch

from kgraft.graph import Graph
from kgraft.vectors import EntityVectors

LETTERS = "nvasr"


class PartOfSpeech(EntityVectors):
    """The part of speech of a synset, as one of five numbers that is not zero."""

    dimension = len(LETTERS)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        letters = graph.entities["pos"].to_pylist()
        self._column = np.array([LETTERS.index(letter) for letter in letters])

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        columns = torch.from_numpy(self._column[entities])
        return torch.nn.functional.one_hot(columns, self.dimension).float()

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        return np.full(len(entities), "text", "U16")
