"""The one training loop: seeds, checkpoints, resuming, logs, several processes."""

from __future__ import annotations

from kgraft.training.divergence import Diverged
from kgraft.training.loop import Epoch, Schedule, train, train_in_passing
from kgraft.training.processes import Processes
from kgraft.training.seeds import stream, torch_stream
from kgraft.training.trainee import Trainee

__all__ = [
    "Diverged",
    "Epoch",
    "Processes",
    "Schedule",
    "Trainee",
    "stream",
    "torch_stream",
    "train",
    "train_in_passing",
]
