"""What the loop trains: a model with its optimiser and its data, seen from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import torch

Batch = TypeVar("Batch")


class Trainee(Protocol[Batch]):
    """What the loop trains; any class with these five methods is one.

    Resuming is exact if a step depends on nothing but the state, the batch and its place. Under
    several processes all hold the same state, and `step` and `validate` may use collective calls;
    `state` is asked of the main process alone.
    """

    def state(self) -> dict[str, torch.Tensor]:
        """Return all that a checkpoint must hold, parameters and optimiser, under flat names.

        The tensors are contiguous, share no memory, and are finite as long as training is sound.
        """
        ...

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        """Put a state back, to the bit; the tensors are copied, not kept."""
        ...

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Return the batches of an epoch (counted from 0): the same ones whatever went before."""
        ...

    def step(self, batch: Batch, place: int) -> Mapping[str, float]:
        """Make one update and return its losses by name; "loss" is the total.

        `place` is the number of the step in the whole run, counted from 0. All randomness of the
        step is drawn from it and the trainee's seed (`stream(seed, place)`), never from a generator
        that lives on: the loop seeds nothing. A loss may come back as nan or infinite; the loop
        then stops. Under several processes all return the same losses.
        """
        ...

    def validate(self) -> Mapping[str, float]:
        """Return figures on validation data, none where there is none; the state stays as it is."""
        ...
