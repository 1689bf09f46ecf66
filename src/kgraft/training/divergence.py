"""Training that runs away: noticed at the step it happens, and never written to a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from kgraft.errors import KgraftError


class Diverged(KgraftError):
    """A loss or a parameter is no longer a finite number."""

    def __init__(
        self, what: str, *, epoch: int, step: int, checkpoint: int | None, remedy: str
    ) -> None:
        self.epoch, self.step, self.checkpoint, self.remedy = epoch, step, checkpoint, remedy
        good = (
            "there is no checkpoint yet"
            if checkpoint is None
            else f"the last good checkpoint is that of step {checkpoint}"
        )
        super().__init__(
            f"training diverged in epoch {epoch}, step {step}: {what}; {good}; {remedy}"
        )


def bad_loss(losses: Mapping[str, float]) -> str | None:
    """Say which loss is not finite, if one is."""
    for name, value in losses.items():
        if not math.isfinite(value):
            return f"{name} is {value}"
    return None


def bad_tensor(state: Mapping[str, torch.Tensor]) -> str | None:
    """Say which tensor of a state is not finite, if one is.

    A step with a finite loss can still leave such a tensor, when its gradient overflows.
    """
    for name, tensor in state.items():
        # The sum is finite only if all is, and takes no memory.
        if not torch.isfinite(tensor.sum()) and not torch.isfinite(tensor).all():
            return f"{name} is no longer finite after the step"
    return None
