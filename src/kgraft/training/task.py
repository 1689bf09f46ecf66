"""What `fit` trains: batches, a step, a validation, and what is written at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.autograd import backward
from torch.nn.utils import clip_grad_norm_

from kgraft.progress import Progress
from kgraft.storage import Kind
from kgraft.training.processes import Processes
from kgraft.training.settings import Schedule, TrainingSettings

Batch = TypeVar("Batch")
ParameterGroups = Iterable[tuple[float, Iterable[nn.Parameter]]]
"""Parameters by the learning rate that is theirs."""

LONGEST_GRADIENT = 1.0  # norm over all parameters


class TrainingTask(ABC, Generic[Batch]):
    """What `fit` trains: a model with its optimiser and its data.

    Resuming is exact if a step depends on nothing but the state, the batch and the number of the
    step. Several processes all have the same state; `step` and `validate` may use collective calls;
    `state` and `save` are called in the main process alone.
    """

    kind: ClassVar[Kind]  # of folder that `save` writes
    watch: ClassVar[str] = "score"  # the figure of `validate` that decides; higher is better
    remedy: str = "lower the learning rate"  # where training diverges
    best_figures: Mapping[str, float] = MappingProxyType({})  # of the state that `fit` leaves

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, parameters and optimiser, under flat names.

        The tensors are finite as long as training is sound.
        """

    @abstractmethod
    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back, to the bit; the tensors are copied, not kept."""

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[Batch]:
        """Return the batches of an epoch (counted from 0), the same ones at every call."""

    @abstractmethod
    def step(self, batch: Batch, step: int) -> Mapping[str, float]:
        """Make one update and return its losses by name; "loss" is the total.

        `step` is the number of the step in the whole run, counted from 0. All randomness is drawn
        from it and the seed (see `kgraft.training.stream`). A loss may be nan or infinite: `fit`
        then stops. Several processes all return the same losses.
        """

    def validate(self) -> Mapping[str, float]:
        """Return figures on validation data, none where there is none; the state stays as it is."""
        return {}

    def identity(self) -> Mapping[str, Any]:
        """Return what defines the run besides its settings, such as versions of data, as JSON."""
        return {}

    def schedule(self, settings: TrainingSettings) -> Schedule:
        """Return when the run validates and ends."""
        return Schedule(settings.epochs, settings.patience, settings.validate_every)

    def set_up(self, folder: Path, progress: Progress) -> None:
        """Make what the run keeps in its folder, before a state is loaded."""

    def save(self, folder: Path) -> None:
        """Write what was trained; the task has its best state."""
        raise NotImplementedError


class AdamWTask(TrainingTask[Batch]):
    """A module that AdamW updates, each group of its parameters at a learning rate of its own.

    The rates rise during the first steps, then fall linearly towards the last.
    """

    steps: int  # of the whole run

    def __init__(
        self,
        module: nn.Module,
        groups: ParameterGroups,
        *,
        weight_decay: float = 0.01,
        processes: Processes | None = None,
    ) -> None:
        self.module = module
        self.processes = processes or Processes()
        pairs = [(rate, list(parameters)) for rate, parameters in groups]
        self.rates = [rate for rate, _ in pairs]
        self.optimiser = torch.optim.AdamW(
            [{"params": parameters} for _, parameters in pairs],
            lr=0.0,
            weight_decay=weight_decay,
            fused=True,
        )

    def state(self) -> dict[str, Tensor]:
        """Return parameters and optimiser."""
        parameters = {f"module.{n}": p.detach() for n, p in self.module.named_parameters()}
        return parameters | {f"optimiser.{n}": t for n, t in self.optimiser_state().items()}

    @torch.no_grad()
    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        for name, parameter in self.module.named_parameters():
            parameter.copy_(state[f"module.{name}"])
        self.load_optimiser_state(without_prefix("optimiser.", state))

    def update(self, loss: Tensor, step: int) -> dict[str, float]:
        """Update the parameters against the loss of a step, and return it by its name.

        Parameters that the loss does not reach stay as they are. Several processes all update by
        the mean of their gradients, clipped to a norm of 1.
        """
        self.optimiser.zero_grad()
        if loss.requires_grad:
            backward([loss])
        if self.processes.count > 1:
            self._average_gradients()
        if loss.requires_grad:
            clip_grad_norm_(self._parameters(), LONGEST_GRADIENT)
        scale = lr_scale(step, self.steps)
        for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
            group["lr"] = rate * scale
        self.optimiser.step()
        return {"loss": loss.item()}

    def _parameters(self) -> list[nn.Parameter]:
        return [p for group in self.optimiser.param_groups for p in group["params"]]

    def optimiser_state(self) -> dict[str, Tensor]:
        """Return the optimiser's tensors by names like `3.exp_avg`."""
        return {
            f"{index}.{name}": tensor
            for index, parameter in enumerate(self._parameters())
            for name, tensor in self.optimiser.state.get(parameter, {}).items()
        }

    def load_optimiser_state(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `optimiser_state` gave."""
        for index, parameter in enumerate(self._parameters()):
            own = without_prefix(f"{index}.", state)
            self.optimiser.state[parameter] = {name: t.clone() for name, t in own.items()}

    def _average_gradients(self) -> None:
        """Replace the gradients by their means over the processes, in one exchange."""
        parameters = self._parameters()
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        self.processes.sum_(flat).div_(self.processes.count)
        parts = torch.split(flat, [parameter.numel() for parameter in parameters])
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.grad = part.view_as(parameter).clone()


def lr_scale(step: int, steps: int, *, warmup: float = 0.1, least: float = 0.02) -> float:
    """Return the fraction of the learning rate at a step: it rises at first, then falls.

    >>> [round(lr_scale(step, 100), 2) for step in (0, 9, 50, 99)]
    [0.1, 0.91, 0.5, 0.02]
    """
    return min(1.0, (step + 1) / (warmup * steps)) * max(least, 1 - step / steps)


def without_prefix(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the part of a state whose names begin with a prefix, without it."""
    return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}
