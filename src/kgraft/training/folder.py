"""The folder of a run: what the run is, its checkpoints, its log and its events."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kgraft.errors import BadInput, KgraftError
from kgraft.json_text import read_json_file
from kgraft.storage import new_file
from kgraft.training.checkpoint import read_checkpoint, step_of

ANEW = "name another folder, or pass --overwrite to begin anew"


def run_folder(out: Path) -> Path:
    """Return where a training keeps its checkpoints and log until what it makes is whole."""
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

    def refuse_other_run(self) -> None:
        """Refuse a checkpoint of other settings; without one there is nothing to protect."""
        if not self.checkpoint.exists():
            return
        try:
            held = read_json_file(self.run)
            changes = differences(held, self.identity)
        except (OSError, ValueError, AttributeError) as error:
            raise BadInput(
                f"there is a checkpoint, but its settings cannot be read ({error})",
                file=str(self.run),
                remedy=ANEW,
            ) from error
        if changes:
            reason = f"holds a run with other settings: {', '.join(changes)}"
            raise BadInput(reason, file=str(self.path), remedy=ANEW)

    def make_way(self) -> None:
        """Remove a run that cannot go on: its settings are others, or it is damaged."""
        try:
            self.refuse_other_run()
            for path in (self.checkpoint, self.best):
                if path.exists():
                    read_checkpoint(path)
        except KgraftError:
            shutil.rmtree(self.path)

    def claim(self) -> None:
        """Make the folder this run's own, and remove what a killed run has half-written."""
        with self.saving(self.run):
            self.path.mkdir(parents=True, exist_ok=True)
            for pattern in ("*.partial-*", ".tmp*"):  # safetensors has partial files of its own
                for left in self.path.glob(pattern):
                    left.unlink(missing_ok=True)
            with new_file(self.run) as partial:
                text = json.dumps(self.identity, indent=2, ensure_ascii=False)
                partial.write_text(text + "\n", encoding="utf-8")

    @contextmanager
    def saving(self, path: Path) -> Iterator[None]:
        """Turn a failure to write `path` into a line that says what is lost: nothing."""
        try:
            yield
        except OSError as error:
            step = step_of(self.checkpoint)
            kept = (
                "there is no checkpoint yet"
                if step is None
                else f"the last checkpoint (step {step}) is whole"
            )
            remedy = "free space" if error.errno == errno.ENOSPC else "put that right"
            raise KgraftError(
                f"{path}: cannot be written ({error.strerror}); {kept}; "
                f"{remedy} and run the same command again"
            ) from error


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Say what differs between two sets of settings, nested ones under dotted names.

    >>> differences({"rate": 0.1, "model": {"size": 8}}, {"rate": 0.2, "model": {"size": 8}})
    ['rate 0.1 → 0.2']
    """
    before, after = dict(_flat(old)), dict(_flat(new))
    return [
        f"{name} {before.get(name, 'not set')} → {after.get(name, 'not set')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _flat(settings: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{name}.")
        else:
            yield above + name, json.dumps(value, ensure_ascii=False)
