"""Checkpoints: a state and its position in the run, in one safetensors file with a checksum."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from kgraft.errors import KgraftError
from kgraft.storage import new_file
from kgraft.tensors import tensor_digest, write_tensors

logger = logging.getLogger("kgraft.training")
_UNUSABLE = (SafetensorError, OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class Position:
    """A moment between two steps of a run; the loss sums are those of the epoch under way."""

    epoch: int = 0  # finished ones
    batch: int = 0  # batches made of the epoch under way
    step: int = 0
    seconds: float = 0.0
    sums: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    best: float | None = None
    best_step: int | None = None
    best_figures: Mapping[str, float] = field(default_factory=dict)
    latest: float | None = None
    stale: int = 0  # validations since the best one

    def after_step(self, losses: Mapping[str, float], seconds: float) -> Position:
        """Return the position one step later."""
        sums, counts = dict(self.sums), dict(self.counts)
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + float(value)
            counts[name] = counts.get(name, 0) + 1
        return replace(
            self,
            batch=self.batch + 1,
            step=self.step + 1,
            seconds=self.seconds + seconds,
            sums=sums,
            counts=counts,
        )

    def after_epoch(self, figures: Mapping[str, float], watch: str) -> Position:
        """Return the position at the start of the next epoch; no figures: nothing was validated."""
        start = replace(self, epoch=self.epoch + 1, batch=0, sums={}, counts={})
        if not figures:
            return start
        figure = figures[watch]
        if self.best is not None and figure <= self.best:
            return replace(start, latest=figure, stale=self.stale + 1)
        return replace(
            start, best=figure, best_step=self.step, best_figures=figures, latest=figure, stale=0
        )

    def mean_losses(self) -> dict[str, float]:
        """Return the mean losses of the epoch under way."""
        return {name: total / self.counts[name] for name, total in self.sums.items()}


def write_checkpoint(path: Path, state: Mapping[str, torch.Tensor], position: Position) -> None:
    """Write a checkpoint; what was there stays if that fails (with an OSError)."""
    text = json.dumps(asdict(position))
    write_tensors(path, state, {"position": text, "sha256": _digest(state, text)})


def copy_checkpoint(source: Path, target: Path) -> None:
    """Copy a checkpoint, without a second copy of its bytes where the disk allows it."""
    with new_file(target) as partial:
        try:
            os.link(source, partial)  # safe: checkpoints are replaced, never written into
        except OSError:
            shutil.copyfile(source, partial)


def read_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], Position]:
    """Read a checkpoint and verify its checksum."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if _digest(state, metadata["position"]) != metadata["sha256"]:
            raise ValueError("its checksum is wrong")
        return state, Position(**json.loads(metadata["position"]))
    except _UNUSABLE as error:
        raise KgraftError(
            f"{path}: cannot be resumed from, it is damaged ({error}); "
            "name another folder, or pass --overwrite to start again"
        ) from error


def step_of(path: Path) -> int | None:
    """Return the step of a checkpoint; None where there is none that can be read."""
    try:
        with safe_open(path, framework="pt") as file:
            return int(json.loads(file.metadata()["position"])["step"])
    except FileNotFoundError:
        return None
    except _UNUSABLE as error:
        logger.debug("%s cannot be read (%s)", path, error)
        return None


def _digest(state: Mapping[str, torch.Tensor], position: str) -> str:
    return hashlib.sha256(f"{tensor_digest(state)} {position}".encode()).hexdigest()
