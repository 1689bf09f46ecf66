"""`fit`: the one training loop, which can be killed at any moment and resumes to the bit."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic

import torch

from kgraft.errors import BadInput, KgraftError
from kgraft.progress import Progress, Silent
from kgraft.storage import new_folder, refuse_existing
from kgraft.training.checkpoint import (
    Position,
    copy_checkpoint,
    read_checkpoint,
    step_of,
    write_checkpoint,
)
from kgraft.training.interrupt import defer_interrupt
from kgraft.training.processes import Processes
from kgraft.training.run_folder import RunFolder, RunLog, run_folder
from kgraft.training.settings import Schedule, TrainingSettings
from kgraft.training.task import Batch, TrainingTask


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to."""

    number: int  # counted from 1
    step: int  # steps made since the run began
    losses: dict[str, float]  # means over the epoch
    figures: dict[str, float]  # empty where nothing was validated
    best: bool
    seconds: float  # spent on training since the run began, resumed parts included

    def to_dict(self) -> dict[str, Any]:
        """Return the epoch as a line of the log."""
        fields = asdict(self)
        return {"epoch": fields.pop("number"), **fields}


class Diverged(KgraftError):
    """A loss, a figure or a parameter is no longer a finite number."""

    def __init__(
        self, what: str, *, epoch: int, step: int, checkpoint: int | None, remedy: str
    ) -> None:
        self.epoch, self.step, self.checkpoint, self.remedy = epoch, step, checkpoint, remedy
        last = (
            "there is no checkpoint yet"
            if checkpoint is None
            else f"the last good checkpoint is that of step {checkpoint}"
        )
        super().__init__(
            f"training diverged in epoch {epoch}, step {step}: {what}; {last}; {remedy}"
        )


def fit(
    task: TrainingTask[Batch],
    out: str | Path | None,
    settings: TrainingSettings,
    *,
    overwrite: bool = False,
    checkpoint_minutes: float = 5.0,
    processes: Processes | None = None,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train a task and write its result to the folder `out`, yielding after each epoch.

    The task is left with its best state: that of the highest watched figure, or the last one where
    nothing is validated. Interrupted or killed, the same call resumes at the last checkpoint and
    ends, on a CPU, with the same bits as if it had never stopped; epochs already done are not
    yielded again. Until the result is written, the run lives in the folder OUT.training.

    Without `out` nothing is written, and nothing can be resumed.
    """
    processes = processes or Processes()
    schedule = replace_fields(task.schedule(settings), checkpoint_minutes=checkpoint_minutes)
    shown = progress if progress is not None and processes.main else Silent()
    with ExitStack() as stack:
        if out is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="kgraft-"))) / "run"
        else:
            refuse_existing(Path(out), task.kind, overwrite=overwrite)
            folder = run_folder(Path(out))
        files = RunFolder(folder, {**settings.to_dict(), **task.identity()})
        if processes.main:
            stack.enter_context(files.lock())
            if overwrite:
                files.remove_unusable()
        processes.wait()
        yield from _Run(task, files, schedule, processes, shown).epochs()
        if out is not None and processes.main:
            _write_result(task, files, Path(out), overwrite=overwrite)
            shutil.rmtree(folder, ignore_errors=True)
        processes.wait()


def train_in_memory(
    task: TrainingTask[Batch], settings: TrainingSettings, *, progress: Progress | None = None
) -> list[Epoch]:
    """Train a task that is used at once and not written anywhere; it has its best state."""
    return list(fit(task, None, settings, progress=progress))


def _write_result(
    task: TrainingTask[Batch], files: RunFolder, out: Path, *, overwrite: bool
) -> None:
    """Write what was trained; if that fails the checkpoints stay, so that nothing is lost."""
    try:
        with new_folder(out, task.kind, overwrite=overwrite) as folder:
            task.save(folder)
            if files.log.exists():
                shutil.copyfile(files.log, folder / files.log.name)
    except OSError as error:
        raise KgraftError(
            f"{out}: cannot be written ({error.strerror or error}); the training is complete in "
            f"{files.path}: free some space and run the same command again"
        ) from error


class _Run(Generic[Batch]):
    """A run under way. `position` changes in one assignment, so that it always fits the state."""

    def __init__(
        self,
        task: TrainingTask[Batch],
        folder: RunFolder,
        schedule: Schedule,
        processes: Processes,
        progress: Progress,
    ) -> None:
        self.task, self.folder, self.schedule = task, folder, schedule
        self.processes, self.progress = processes, progress
        self.position = Position()
        self.saved = Position()
        self.saved_at = time.monotonic()
        self.step_is_complete = True
        self.log: RunLog | None = None

    def epochs(self) -> Iterator[Epoch]:
        """Resume, train epoch after epoch, and leave the task with its best state."""
        self._resume()
        try:
            while not self.schedule.is_over(self.position.epoch, self.position.stale):
                yield self._epoch()
        finally:
            if self.log is not None:
                self.log.close()
        self._load_best()

    def _resume(self) -> None:
        """Load the last checkpoint, if there is one, and open the log."""
        self.processes.wait()  # the main one may still write what an earlier call left
        self.folder.refuse_other_run()
        self.task.set_up(self.folder.path, self.progress)
        if self.folder.checkpoint.exists():
            state, self.position = read_checkpoint(self.folder.checkpoint)
            self.task.load_state(state)
            self.saved = self.position
        self._check_shared_folder()
        if self.processes.main and not self.schedule.is_over(
            self.position.epoch, self.position.stale
        ):
            self.folder.claim()
            with self.folder.saving(self.folder.log):
                self.log = RunLog(self.folder, epoch=self.position.epoch, step=self.position.step)

    def _check_shared_folder(self) -> None:
        """Refuse processes that do not see the same checkpoint."""
        step = self.processes.broadcast(self.position.step)
        if step != self.position.step:
            raise KgraftError(
                f"{self.folder.path}: process {self.processes.index} does not find the checkpoint "
                f"of step {step}; use a folder that all machines share"
            )
        self.processes.wait()

    def _epoch(self) -> Epoch:
        """Finish the epoch under way; Ctrl-C saves what was done so far."""
        try:
            self._make_steps()
            return self._conclude_epoch()
        except KeyboardInterrupt:
            if self.step_is_complete:
                self._save(self.position)
            raise

    def _make_steps(self) -> None:
        """Make the steps of the epoch that are not yet made."""
        clock = time.perf_counter()
        batches = self.task.batches(self.position.epoch)
        self._start_progress(batches)
        for index in range(self.position.batch, len(batches)):
            self._make_step(batches[index], clock)
            self.progress.advance(1)
            if self._checkpoint_is_due():
                self._save(self.position)
            clock = time.perf_counter()

    def _start_progress(self, batches: Sequence[Batch]) -> None:
        title = f"epoch {self.position.epoch + 1} of {self.schedule.epochs}"
        if self.position.latest is not None:
            title += f", {self.task.watch} {self.position.latest:.4f}"
        self.progress.start(title, total=len(batches))
        if self.position.batch:
            self.progress.advance(self.position.batch)

    def _make_step(self, batch: Batch, clock: float) -> None:
        with defer_interrupt():
            self.step_is_complete = False
            losses = self.task.step(batch, self.position.step)
            self._refuse(not_finite_figure(losses), self.position.step + 1)
            self.position = self.position.after_step(losses, time.perf_counter() - clock)
            self.step_is_complete = True

    def _refuse(self, problem: str | None, step: int) -> None:
        """Raise Diverged if there is a problem."""
        if problem:
            raise Diverged(
                problem,
                epoch=self.position.epoch + 1,
                step=step,
                checkpoint=step_of(self.folder.checkpoint),
                remedy=self.task.remedy,
            )

    def _checkpoint_is_due(self) -> bool:
        return time.monotonic() - self.saved_at >= 60 * self.schedule.checkpoint_minutes

    def _conclude_epoch(self) -> Epoch:
        """Validate, log and save. The log goes first: lines past a checkpoint can be dropped."""
        before, figures = self.position, self._validate()
        after = before.after_epoch(figures, self.task.watch)
        best = bool(figures) and after.stale == 0
        epoch = Epoch(after.epoch, after.step, before.mean_losses(), figures, best, after.seconds)
        if self.log is not None:
            self._write_log(epoch, self.log)
        is_over = self.schedule.is_over(after.epoch, after.stale)
        if figures or is_over or self._checkpoint_is_due():
            self._save(after, best=best)
        self.position = after
        return epoch

    def _validate(self) -> dict[str, float]:
        """Return the main process's figures, if it is time for a validation."""
        if not self.schedule.validates(self.position.epoch + 1):
            return {}
        figures = {name: float(x) for name, x in self.task.validate().items()}
        figures = self.processes.broadcast(figures)
        self._refuse(not_finite_figure(figures), self.position.step)
        if figures and self.task.watch not in figures:
            raise BadInput(
                f"there is no figure {self.task.watch!r} to watch",
                remedy=f"there are: {', '.join(figures)}",
            )
        return figures

    def _write_log(self, epoch: Epoch, log: RunLog) -> None:
        losses = {f"train/{name}": x for name, x in epoch.losses.items()}
        figures = {f"valid/{name}": x for name, x in epoch.figures.items()}
        with self.folder.saving(self.folder.log):
            log.add(epoch.to_dict(), losses | figures, epoch.step)

    def _save(self, position: Position, *, best: bool = False) -> None:
        """Write a checkpoint, the best one first: a resumed run makes it again if need be."""
        if not self.processes.main or position == self.saved:
            return
        state = self.task.state()
        self._refuse(not_finite_tensor(state), position.step)
        target = self.folder.best if best else self.folder.checkpoint
        with self.folder.saving(target):
            write_checkpoint(target, state, position)
            if best:
                copy_checkpoint(target, self.folder.checkpoint)
        self.saved, self.saved_at = position, time.monotonic()

    def _load_best(self) -> None:
        """Leave the task with its best state, and the figures of that state."""
        self.processes.wait()
        self.task.best_figures = self.position.best_figures
        if self.position.best_step is None:
            return
        state, position = read_checkpoint(self.folder.best)
        if position.step != self.position.best_step:
            raise KgraftError(
                f"{self.folder.best}: is of step {position.step}, but the best was step "
                f"{self.position.best_step}; name another folder, or pass --overwrite"
            )
        self.task.load_state(state)


def not_finite_figure(figures: Mapping[str, float]) -> str | None:
    """Say which figure is not finite, if one is."""
    for name, value in figures.items():
        if not math.isfinite(value):
            return f"{name} is {value}"
    return None


def not_finite_tensor(state: Mapping[str, torch.Tensor]) -> str | None:
    """Say which tensor of a state is not finite, if one is.

    A step with a finite loss can still leave such a tensor, when its gradient overflows.
    """
    for name, tensor in state.items():
        # The sum is finite only if all numbers are, and takes no memory.
        if not torch.isfinite(tensor.sum()) and not torch.isfinite(tensor).all():
            return f"{name} is no longer finite after the step"
    return None
