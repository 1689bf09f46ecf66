"""What a task on which models are measured consists of; see the registries beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kgraft.errors import BadInput

if TYPE_CHECKING:
    import numpy as np

    from kgraft.graph import Graph
    from kgraft.joint import FineTuning
    from kgraft.measure import Difference
    from kgraft.progress import Progress


class GraftEvaluation(ABC):
    """A task on which a grafted encoder is measured with its knowledge on and off."""

    @abstractmethod
    def compare(
        self, model: Path, data: Path, *, seeds: int = 1, progress: Progress | None = None
    ) -> Difference:
        """Measure the graft of a folder, with the task's files in the folder `data`."""


class JointEvaluation(ABC):
    """A task on which a joint model is fine-tuned and measured.

    A task without texts asks of the graph alone, and needs no data.
    """

    has_texts: ClassVar[bool] = True
    pretraining_loss: ClassVar[str | None] = None  # that learns the same from the same graph

    @abstractmethod
    def measure(self, tuning: FineTuning, data: Path | None) -> np.ndarray:
        """Fine-tune, and return how right the model is on each test example, (N,)."""

    def check_data(self, data: Path | None) -> None:
        """Refuse to begin without the task's files."""
        if data is None and self.has_texts:
            raise BadInput("the task needs data", remedy="give the folder with its files: --data")

    def refuse_learned(self, facts: Mapping[str, Any], graph: Graph) -> None:
        """Refuse to ask what a model learned of the same graph; `facts` are those of its folder."""
        loss = self.pretraining_loss
        if loss is None or facts["graph"] != graph.manifest.version:
            return
        if facts["settings"]["weights"][loss]:
            raise BadInput(
                f"the {loss} of this graph were learned in pre-training: the figure would not "
                "show what the model can tell",
                remedy=f"give another graph, or pre-train with --{loss} 0",
            )
