"""Relation paths as knowledge: how the entities that a text mentions are related to one another.

As the knowledge of a graph, and for each two candidates of different mentions the relation paths
between them, of at most three steps. A graft adds them to the candidates' vectors, as its
`path_encoder` has learned to read them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from torch import Tensor

from kgraft.graft.knowledge import KNOWLEDGE
from kgraft.graft.knowledge.graph import GraphKnowledge
from kgraft.graft.path_index import PairPaths, PathIndex
from kgraft.graft.relation_vectors import relation_vectors
from kgraft.text import Encoder


@KNOWLEDGE.register("paths")
class PathKnowledge(GraphKnowledge):
    """The names of a graph, vectors of its entities, and the paths between them.

    Paths consist of facts of the train split, so that held-out facts stay hidden.
    """

    def paths_between(self, source: np.ndarray, target: np.ndarray) -> PairPaths:
        """Return the relation paths of pairs of entities, (P,) each."""
        return self._index.between(source, target)

    def relation_vectors(self) -> Tensor:
        """Return the vectors of all relations, then of their inverses, (2R, D)."""
        return self._relation_vectors

    @cached_property
    def _index(self) -> PathIndex:
        return PathIndex(self.graph.split("train"))

    @cached_property
    def _relation_vectors(self) -> Tensor:
        return relation_vectors(self.graph, Encoder.load())
