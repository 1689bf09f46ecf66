"""Conclusions of rules as knowledge: facts that a graph lacks, but that rules predict.

As the knowledge of paths; a predicted fact is one more path of one step, whose weight is its
confidence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np

from kgraft.graft.knowledge import KNOWLEDGE
from kgraft.graft.knowledge.paths import PathKnowledge
from kgraft.graft.path_index import PairPaths
from kgraft.graft.predicted_facts import PredictedFacts
from kgraft.graft.settings import KnowledgeConfig
from kgraft.graph import Graph
from kgraft.storage import sha256
from kgraft.vectors import EntityVectors


@KNOWLEDGE.register("rules")
class RuleKnowledge(PathKnowledge):
    """The names of a graph, the paths between its entities, and predicted facts about them.

    `facts` is a file that `kgraft reason apply` wrote: see `kgraft.graft.predicted_facts`.
    """

    reads_facts = True

    def __init__(
        self, graph: Graph, vectors: EntityVectors, facts: str | Path, *, name: str | None = None
    ) -> None:
        super().__init__(graph, vectors, name=name)
        self.predicted = PredictedFacts.read(Path(facts), graph.split("train"))
        self._digest = sha256(Path(facts))

    @classmethod
    def _of(cls, graph: Graph, vectors: EntityVectors, config: KnowledgeConfig) -> Self:
        assert config.facts is not None
        return cls(graph, vectors, config.facts)

    def identity(self) -> dict[str, object]:
        """Return name, graph, the size of the vectors, how it was opened, and which facts."""
        return {**super().identity(), "predicted": self._digest}

    def paths_between(self, source: np.ndarray, target: np.ndarray) -> PairPaths:
        """Return the relation paths of pairs of entities, (P,) each, and the predicted facts."""
        stated = super().paths_between(source, target)
        pair, row = self.predicted.between(source * self.count + target)
        conclusions = PairPaths(pair, self.predicted.step[row] + 1, self.predicted.confidence[row])
        columns = (np.concatenate(both) for both in zip(stated, conclusions, strict=True))
        return PairPaths(*columns)
