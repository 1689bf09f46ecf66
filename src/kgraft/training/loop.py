"""The training loop: a generator that yields after each epoch and can be killed at any moment."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic

from kgraft.errors import BadInput, KgraftError
from kgraft.progress import Progress, Silent
from kgraft.training.checkpoint import (
    copy_checkpoint,
    read_checkpoint,
    step_of,
    write_checkpoint,
)
from kgraft.training.divergence import Diverged, bad_loss, bad_tensor
from kgraft.training.events import Events
from kgraft.training.folder import RunFolder
from kgraft.training.interrupt import held_back
from kgraft.training.log import Log
from kgraft.training.position import Position
from kgraft.training.processes import Processes
from kgraft.training.trainee import Batch, Trainee


@dataclass(frozen=True)
class Schedule:
    """How long to train, and what is looked at on the way."""

    epochs: int
    watch: str = "mrr"  # the figure of validate() that decides; higher is better
    patience: int | None = None  # validations without a better figure before stopping
    validate_every: int = 1  # epochs; the last one is always validated
    checkpoint_minutes: float = 5.0  # besides one at every validation; 0 is after every step

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("patience", 1), ("validate_every", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise BadInput(f"{name} is {value}", remedy=f"give at least {least}")

    def over(self, position: Position) -> bool:
        """Tell whether training ends at a position."""
        tired = self.patience is not None and position.stale >= self.patience
        return tired or position.epoch >= self.epochs

    def validates(self, epoch: int) -> bool:
        """Tell whether there is a validation after an epoch (counted from 1)."""
        return epoch % self.validate_every == 0 or epoch == self.epochs


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to."""

    number: int  # counted from 1
    step: int  # steps made since the run began
    losses: dict[str, float]  # means over the epoch
    figures: dict[str, float]  # empty where nothing was validated
    best: bool
    seconds: float  # spent on training since the run began, resumptions included


def train(
    trainee: Trainee[Batch],
    folder: Path,
    schedule: Schedule,
    *,
    identity: Mapping[str, object],
    remedy: str = "lower the learning rate",
    processes: Processes | None = None,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train, yielding after each epoch; leave the trainee with its best state at the end.

    The best state is that of the highest watched figure, or the last one where nothing was
    validated. The run lives in `folder`. If a checkpoint of the same `identity` (all settings and
    the version of the data that define the run, as JSON) is there, training goes on after it and
    ends, on a CPU, with the same bits as if it had never stopped; epochs already done are not
    yielded again. `remedy` is what to do when training diverges.
    """
    processes = processes or Processes()
    shown = progress if progress and processes.main else Silent()
    run = _Run(trainee, RunFolder(folder, identity), schedule, remedy, processes, shown)
    run.begin()
    while not schedule.over(run.position):
        yield run.epoch()
    run.end()


def train_in_passing(
    trainee: Trainee[Batch], schedule: Schedule, *, progress: Progress | None = None
) -> None:
    """Train in a folder that is gone afterwards; the trainee is left with its best state."""
    with TemporaryDirectory(prefix="kgraft-") as folder:
        for _ in train(trainee, Path(folder), schedule, identity={}, progress=progress):
            pass


class _Run(Generic[Batch]):
    """A run under way. `position` changes in one assignment, so that it always fits the state."""

    def __init__(
        self,
        trainee: Trainee[Batch],
        folder: RunFolder,
        schedule: Schedule,
        remedy: str,
        processes: Processes,
        progress: Progress,
    ) -> None:
        self.trainee, self.folder, self.schedule = trainee, folder, schedule
        self.remedy, self.processes, self.progress = remedy, processes, progress
        self.position = Position()
        self.saved = Position()
        self.saved_at = time.monotonic()
        self.whole = True  # no step is half done
        self.log = Log(folder.log)

    def begin(self) -> None:
        """Load the last checkpoint, if there is one, and make folder and log ready."""
        self.processes.wait()  # the main one may still write what an earlier call left off at
        self.folder.refuse_other_run()
        if self.folder.checkpoint.exists():
            state, self.position = read_checkpoint(self.folder.checkpoint)
            self.trainee.load(state)
            self.saved = self.position
        step = self.processes.broadcast(self.position.step)
        if step != self.position.step:
            raise KgraftError(
                f"{self.folder.path}: process {self.processes.index} does not find the checkpoint "
                f"of step {step}; use a folder that all machines share"
            )
        self.processes.wait()
        if self.processes.main and not self.schedule.over(self.position):
            self._open_files()

    def _open_files(self) -> None:
        self.folder.claim()
        with self.folder.saving(self.folder.log):
            self.log.rewind(self.position.epoch)
            if self.position.step:
                self.log.add({"resumed at step": self.position.step})
            # An epoch's figures stand at its last step: at an epoch's start they are there already.
            self.events = Events(self.folder.events, self.position.step + (self.position.done == 0))

    def epoch(self) -> Epoch:
        """Finish the epoch under way; Ctrl-C saves what was done so far."""
        try:
            self._learn()
            return self._conclude()
        except KeyboardInterrupt:
            if self.whole:
                self._save(self.position)
            raise

    def _learn(self) -> None:
        """Make the steps of the epoch that are not yet made."""
        clock = time.perf_counter()
        batches = self.trainee.batches(self.position.epoch)
        self._announce(batches)
        for batch in range(self.position.done, len(batches)):
            self._step(batches[batch], clock)
            self.progress.advance(1)
            if self._due():
                self._save(self.position)
            clock = time.perf_counter()

    def _announce(self, batches: Sequence[Batch]) -> None:
        what = f"epoch {self.position.epoch + 1} of {self.schedule.epochs}"
        if self.position.latest is not None:
            what += f", {self.schedule.watch} {self.position.latest:.4f}"
        self.progress.start(what, total=len(batches))
        if self.position.done:
            self.progress.advance(self.position.done)

    def _step(self, batch: Batch, clock: float) -> None:
        with held_back():
            self.whole = False
            losses = self.trainee.step(batch, self.position.step)
            self._refuse(bad_loss(losses), self.position.step + 1)
            self.position = self.position.after_step(losses, time.perf_counter() - clock)
            self.whole = True

    def _refuse(self, diverged: str | None, step: int) -> None:
        if diverged:
            raise Diverged(
                diverged,
                epoch=self.position.epoch + 1,
                step=step,
                checkpoint=step_of(self.folder.checkpoint),
                remedy=self.remedy,
            )

    def _due(self) -> bool:
        return time.monotonic() - self.saved_at >= 60 * self.schedule.checkpoint_minutes

    def _conclude(self) -> Epoch:
        """Validate, log and save. The log goes first: lines past a checkpoint can be dropped."""
        before, figures = self.position, self._figures()
        after = before.after_epoch(figures.get(self.schedule.watch))
        best = bool(figures) and after.stale == 0
        epoch = Epoch(after.epoch, after.step, before.means(), figures, best, after.seconds)
        if self.processes.main:
            self._record(epoch)
        if best or figures or self._due() or self.schedule.over(after):
            self._save(after, best=best)
        self.position = after
        return epoch

    def _figures(self) -> dict[str, float]:
        """Return the main process's figures, if it is time for a validation."""
        if not self.schedule.validates(self.position.epoch + 1):
            return {}
        figures = {name: float(x) for name, x in self.trainee.validate().items()}
        figures = self.processes.broadcast(figures)
        self._refuse(bad_loss(figures), self.position.step)
        if figures and self.schedule.watch not in figures:
            raise BadInput(
                f"there is no figure {self.schedule.watch!r} to watch",
                remedy=f"there are: {', '.join(figures)}",
            )
        return figures

    def _record(self, epoch: Epoch) -> None:
        line = asdict(epoch)
        line = {"epoch": line.pop("number"), **line}
        losses = {f"train/{name}": x for name, x in epoch.losses.items()}
        figures = {f"valid/{name}": x for name, x in epoch.figures.items()}
        with self.folder.saving(self.folder.log):
            self.log.add(line)
            self.events.add(epoch.step, losses | figures)

    def _save(self, position: Position, *, best: bool = False) -> None:
        """Write a checkpoint, and the best one before it: resuming makes it again if need be."""
        if not self.processes.main or position == self.saved:
            return
        state = self.trainee.state()
        self._refuse(bad_tensor(state), position.step)
        target = self.folder.best if best else self.folder.checkpoint
        with self.folder.saving(target):
            write_checkpoint(target, state, position)
            if best:
                copy_checkpoint(target, self.folder.checkpoint)
        self.saved, self.saved_at = position, time.monotonic()

    def end(self) -> None:
        """Leave the trainee with the best state."""
        self.processes.wait()
        if self.position.best_step is None:
            return
        state, position = read_checkpoint(self.folder.best)
        if position.step != self.position.best_step:
            raise KgraftError(
                f"{self.folder.best}: is of step {position.step}, but the best was step "
                f"{self.position.best_step}; name another folder, or pass --overwrite"
            )
        self.trainee.load(state)
