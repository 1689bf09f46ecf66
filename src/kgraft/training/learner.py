"""What most trainees are: a module that AdamW moves, each part of it at a rate of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from kgraft.training.adam import Adam, learned_state, load_learned, warmed_up
from kgraft.training.processes import Processes

Groups = Iterable[tuple[float, Iterable[nn.Parameter]]]
"""Parameters by the rate at which they learn."""


class Learner:
    """The part of a `Trainee` that does not depend on what is learnt."""

    steps: int  # of the whole run; rates rise at first and fall towards the last of them

    def __init__(self, module: nn.Module, groups: Groups, *, weight_decay: float = 0.01) -> None:
        self.module = module
        held = [(rate, list(parameters)) for rate, parameters in groups]
        self.rates = [rate for rate, _ in held]
        by_rate = [{"params": parameters} for _, parameters in held]
        self.optimiser = Adam(by_rate, 0.0, weight_decay=weight_decay)

    def state(self) -> dict[str, Tensor]:
        """Return parameters and optimiser."""
        return learned_state(self.module, self.optimiser)

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        load_learned(self.module, self.optimiser, state)

    def move(
        self, loss: Tensor, place: int, processes: Processes | None = None
    ) -> dict[str, float]:
        """Move the parameters once against the loss of a step, and return it by its name."""
        share = warmed_up(place, self.steps)
        self.optimiser.update(loss, [rate * share for rate in self.rates], processes)
        return {"loss": loss.item()}
