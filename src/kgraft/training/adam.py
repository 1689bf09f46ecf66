"""AdamW with its whole state there from the start, as flat tensors for a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import backward
from torch.nn.utils import clip_grad_norm_

from kgraft.training.processes import Processes

LONGEST = 1.0  # a gradient over all parameters, at most


class Adam(torch.optim.AdamW):
    """AdamW over parameters, or groups of them, that a checkpoint can hold to the bit."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        learning_rate: float,
        *,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(parameters, learning_rate, weight_decay=weight_decay, fused=True)
        for parameter in self.parameters():
            self.state[parameter] = {
                "step": torch.zeros((), device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def parameters(self) -> list[nn.Parameter]:
        """Return all parameters, group after group."""
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def update(
        self, loss: Tensor, rates: Sequence[float], processes: Processes | None = None
    ) -> None:
        """Move the parameters once against a loss, each group at its rate.

        Parameters that the loss does not reach stay; the gradient is cut to the length 1. Several
        processes move by the mean of their gradients, all alike.
        """
        self.zero_grad()
        if loss.requires_grad:
            backward([loss])
        if processes is not None and processes.count > 1:
            self._share(processes)
        if loss.requires_grad:
            clip_grad_norm_(self.parameters(), LONGEST)
        for group, rate in zip(self.param_groups, rates, strict=True):
            group["lr"] = rate
        self.step()

    def _share(self, processes: Processes) -> None:
        """Replace the gradients by their means over the processes, in one exchange."""
        held = self.parameters()
        flat = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in held]
        )
        processes.sum_(flat).div_(processes.count)
        sizes = [parameter.numel() for parameter in held]
        for parameter, part in zip(held, torch.split(flat, sizes), strict=True):
            parameter.grad = part.view_as(parameter).clone()

    def flat_state(self) -> dict[str, Tensor]:
        """Return the state by names like `3.exp_avg`."""
        return {
            f"{number}.{name}": tensor
            for number, parameter in enumerate(self.parameters())
            for name, tensor in self.state[parameter].items()
        }

    def load_flat(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `flat_state` gave."""
        for name, tensor in self.flat_state().items():
            tensor.copy_(state[name])


def learned_state(module: nn.Module, optimiser: Adam) -> dict[str, Tensor]:
    """Return all parameters of a module, and the state of its optimiser."""
    state = {f"module.{n}": p.detach() for n, p in module.named_parameters()}
    return state | {f"optimiser.{n}": t for n, t in optimiser.flat_state().items()}


@torch.no_grad()
def load_learned(module: nn.Module, optimiser: Adam, state: Mapping[str, Tensor]) -> None:
    """Put back what `learned_state` gave."""
    held = under("module.", state)
    for name, parameter in module.named_parameters():
        parameter.copy_(held[name])
    optimiser.load_flat(under("optimiser.", state))


def warmed_up(place: int, steps: int, *, warm: float = 0.1, least: float = 0.02) -> float:
    """Return the share of the learning rate at a step: it rises at first, then falls.

    >>> [round(warmed_up(place, 100), 2) for place in (0, 9, 50, 99)]
    [0.1, 0.91, 0.5, 0.02]
    """
    return min(1.0, (place + 1) / (warm * steps)) * max(least, 1 - place / steps)


def under(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the part of a state whose names begin with a prefix, without it."""
    return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}
