"""The folder of a run: its settings, its checkpoints, its log, and the lock that makes it ours."""

from __future__ import annotations

import errno
import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from kgraft.errors import BadInput, KgraftError
from kgraft.json_text import parse_json, read_json_file, to_json
from kgraft.storage import flush, new_file
from kgraft.training.checkpoint import read_checkpoint, step_of

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

logger = logging.getLogger("kgraft.training")

START_AGAIN = "name another folder, or pass --overwrite to start again"


def run_folder(out: Path) -> Path:
    """Return where a training keeps its checkpoints and its log until its result is written."""
    return out.with_name(f"{out.name}.training")


class RunFolder:
    """The files of one run and what may be done with them."""

    def __init__(self, path: Path, identity: Mapping[str, object]) -> None:
        self.path = path
        self.identity = json.loads(json.dumps(identity))
        self.run = path / "run.json"
        self.checkpoint = path / "checkpoint.safetensors"
        self.best = path / "best.safetensors"
        self.log = path / "log.jsonl"
        self.events = path / "events"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Refuse a second process that trains in this folder while the block runs."""
        with self.saving(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            reason = f"another process trains in {self.path}"
            raise BadInput(reason, remedy="wait for it, or name another folder") from None
        except OSError as error:
            raise self._cannot_write(self.path, error) from error
        try:
            yield
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def refuse_other_run(self) -> None:
        """Refuse a checkpoint of other settings; without one there is nothing to protect."""
        if not self.checkpoint.exists():
            return
        try:
            stored = read_json_file(self.run)
            changes = differences(stored, self.identity)
        except (OSError, ValueError, AttributeError) as error:
            raise BadInput(
                f"there is a checkpoint, but its settings cannot be read ({error})",
                file=str(self.run),
                remedy=START_AGAIN,
            ) from error
        if changes:
            reason = f"has a run with other settings: {', '.join(changes)}"
            raise BadInput(reason, file=str(self.path), remedy=START_AGAIN)

    def remove_unusable(self) -> None:
        """Remove a run that cannot be resumed: its settings are others, or it is damaged."""
        try:
            self.refuse_other_run()
            for path in (self.checkpoint, self.best):
                if path.exists():
                    read_checkpoint(path)
        except KgraftError:
            shutil.rmtree(self.path)

    def claim(self) -> None:
        """Write the run's settings, and remove what a killed run has half-written."""
        with self.saving(self.run):
            self.path.mkdir(parents=True, exist_ok=True)
            for pattern in ("*.partial-*", ".tmp*"):  # safetensors has partial files of its own
                for leftover in self.path.glob(pattern):
                    leftover.unlink(missing_ok=True)
            with new_file(self.run) as partial:
                text = json.dumps(self.identity, indent=2, ensure_ascii=False)
                partial.write_text(text + "\n", encoding="utf-8")

    @contextmanager
    def saving(self, path: Path) -> Iterator[None]:
        """Turn a failure to write `path` into an error that says that nothing is lost."""
        try:
            yield
        except OSError as error:
            raise self._cannot_write(path, error) from error

    def _cannot_write(self, path: Path, error: OSError) -> KgraftError:
        step = step_of(self.checkpoint)
        kept = (
            "there is no checkpoint yet"
            if step is None
            else f"the last checkpoint (step {step}) is complete"
        )
        remedy = "free space" if error.errno == errno.ENOSPC else "fix that"
        return KgraftError(
            f"{path}: cannot be written ({error.strerror or error}); {kept}; "
            f"{remedy} and run the same command again"
        )


class RunLog:
    """The log of a run: a line of JSON per epoch, and the same figures for TensorBoard.

    After any number of kills the lines read as if there had been none.
    """

    def __init__(self, folder: RunFolder, *, epoch: int, step: int) -> None:
        """Open the log of a run that stands after an epoch, and resumes at a step."""
        self.path = folder.log
        self._drop_later_lines(epoch)
        if step:
            self._append({"resumed at step": step})
        self._events = _summary_writer(folder.events, purge_step=step)

    def add(self, entry: Mapping[str, Any], figures: Mapping[str, float], step: int) -> None:
        """Append a line, and figures by tag at a step."""
        self._append(entry)
        if self._events is not None:
            for tag, value in figures.items():
                self._events.add_scalar(tag, value, step)
            self._events.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._events is not None:
            self._events.close()

    def _append(self, entry: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(to_json(dict(entry)) + "\n")
        flush(self.path)

    def _drop_later_lines(self, epoch: int) -> None:
        """Drop the lines of epochs after `epoch`, which will come again, and a line cut off."""
        if not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        with new_file(self.path) as partial:
            kept = [f"{line}\n" for line in lines if _is_up_to(line, epoch)]
            partial.write_text("".join(kept), encoding="utf-8")


def _summary_writer(folder: Path, purge_step: int) -> SummaryWriter | None:
    """Open TensorBoard's event files; None where tensorboard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        logger.info("no event files: pip install 'kgraft[tensorboard]' brings TensorBoard's")
        return None
    return SummaryWriter(str(folder), purge_step=purge_step or None)


def _is_up_to(line: str, epoch: int) -> bool:
    """Tell whether a line is complete and not past an epoch; notes without an epoch stay."""
    try:
        return int(parse_json(line).get("epoch", 0)) <= epoch
    except (ValueError, AttributeError):
        return False


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """List what differs between two sets of settings, nested ones under dotted names.

    >>> differences({"rate": 0.1, "model": {"size": 8}}, {"rate": 0.2, "model": {"size": 8}})
    ['rate 0.1 → 0.2']
    """
    before, after = dict(_flat(old)), dict(_flat(new))
    return [
        f"{name} {before.get(name, 'not set')} → {after.get(name, 'not set')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _flat(settings: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, json.dumps(value, ensure_ascii=False)
