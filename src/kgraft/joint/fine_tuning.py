"""A joint model in fine-tuning, with the graph's own losses learned along if asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.joint.graph_losses import GraphLosses
from kgraft.joint.graph_memory import open_memory
from kgraft.joint.heads import new_heads
from kgraft.joint.model import JointModel
from kgraft.progress import Progress
from kgraft.text import freeze_bottom
from kgraft.training import (
    AdamWTask,
    ParameterGroups,
    Purpose,
    seeded,
    stream,
    torch_stream,
)
from kgraft.vectors import Memory

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class FineTuning:
    """A joint model on a graph, and how it is fine-tuned there."""

    model: JointModel
    graph: Graph
    seed: int = 0
    use_knowledge: bool = True
    multi_task: bool = False  # whether the graph's two losses are learned in the same steps
    progress: Progress | None = None

    @cached_property
    def memory(self) -> Memory:
        """What the model reads of the graph's descriptions before it is fine-tuned."""
        return open_memory(self.model, self.graph, progress=self.progress)

    @cached_property
    def graph_losses(self) -> GraphLosses | None:
        """The losses that are learned along, none without `multi_task`."""
        if not self.multi_task:
            return None
        heads = new_heads(self.model, self.graph, self.seed)
        return GraphLosses(self.model, heads, self.graph, self.memory)


class FineTuningTask(AdamWTask[Batch]):
    """A joint model in fine-tuning; `graph_losses` are learned in the same steps (multi-task)."""

    def __init__(
        self,
        module: nn.Module,
        groups: ParameterGroups,
        *,
        seed: int,
        graph_losses: GraphLosses | None = None,
        graph_rate: float = 0.0,
    ) -> None:
        self.graph_losses, self._seed = graph_losses, seed
        all_groups: Iterable[tuple[float, Iterable[nn.Parameter]]] = groups
        if graph_losses is not None:
            module = nn.ModuleDict({"task": module, "heads": graph_losses.heads})
            all_groups = [*groups, (graph_rate, graph_losses.heads.parameters())]
        super().__init__(module, all_groups)

    def update(self, loss: Tensor, step: int) -> dict[str, float]:
        """Update the parameters against the loss of the task and those of the graph."""
        if self.graph_losses is None:
            return super().update(loss, step)
        path = (self._seed, Purpose.DATA, step)
        with seeded(torch_stream(*path).initial_seed()):
            others = self.graph_losses(stream(*path))
        total = super().update(loss + sum(others.values()), step)
        return {**total, "task": loss.item(), **{name: x.item() for name, x in others.items()}}


def language_parameters(model: JointModel, *, train_lower: bool = True) -> list[nn.Parameter]:
    """Return what is trained of the language module; without `train_lower`, LM1 stays as it is.

    Then a memory holds what LM1 would read now, and a step takes two thirds of the time.
    """
    if not train_lower:
        freeze_bottom(model.encoder.model, model.language.cut)
    return [parameter for parameter in model.language.parameters() if parameter.requires_grad]
