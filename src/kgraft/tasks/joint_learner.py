"""A joint model in fine-tuning: what is asked of the graph may be learnt beside the task."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from kgraft.joint import JointModel
from kgraft.joint.graph_losses import GraphLosses
from kgraft.text import freeze_bottom
from kgraft.training import Processes, stream, torch_stream
from kgraft.training.learner import Groups, Learner
from kgraft.training.seeds import seeded

_BESIDE = 9  # what a stream of random numbers is for


class JointLearner(Learner):
    """See `Learner`; with `beside`, its losses are learnt in the same steps (multi-task)."""

    def __init__(
        self,
        module: nn.Module,
        groups: Groups,
        *,
        seed: int,
        beside: GraphLosses | None = None,
        rate: float = 0.0,
    ) -> None:
        self.beside, self._seed = beside, seed
        held: Iterable[tuple[float, Iterable[nn.Parameter]]] = groups
        if beside is not None:
            module = nn.ModuleDict({"task": module, "heads": beside.heads})
            held = [*groups, (rate, beside.heads.parameters())]
        super().__init__(module, held)

    def move(
        self, loss: Tensor, place: int, processes: Processes | None = None
    ) -> dict[str, float]:
        """Move the parameters once against the loss of the task and those beside it."""
        if self.beside is None:
            return super().move(loss, place, processes)
        here = (self._seed, _BESIDE, place)
        with seeded(torch_stream(*here).initial_seed()):
            others = self.beside(stream(*here))
        whole = super().move(loss + sum(others.values()), place, processes)
        return {**whole, "task": loss.item(), **{n: x.item() for n, x in others.items()}}


def language_parameters(model: JointModel, *, lower: bool = True) -> list[nn.Parameter]:
    """Return what learns of the language module; without `lower`, LM1 and its words stay.

    Then what a memory holds is what LM1 would read now, and a step takes two thirds of the time.
    """
    if not lower:
        freeze_bottom(model.encoder.model, model.language.cut)
    return [parameter for parameter in model.language.parameters() if parameter.requires_grad]
