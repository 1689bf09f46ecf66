"""Progress of long work on stderr: a bar on a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

EVERY = 10.0  # seconds between two lines where stderr is not a terminal


class Progress(Protocol):
    """What long work reports to; `advance` is called with how much was done since the last call."""

    def start(self, what: str, total: int | None = None) -> None:
        """Begin a new stage of `total` units (None where the size is not known)."""

    def advance(self, amount: int = 1) -> None:
        """Report that `amount` more units are done."""


class Silent:
    """Reports to nobody: the default in the library."""

    def start(self, what: str, total: int | None = None) -> None:
        """Do nothing."""

    def advance(self, amount: int = 1) -> None:
        """Do nothing."""


class Lines:
    """Prints how far the work is in a line every few seconds, from a thread of its own.

    Work that is done before the first line is due prints nothing.
    """

    def __init__(self, every: float = EVERY) -> None:
        self._every, self._over = every, threading.Event()
        self._what, self._total, self._done = "", 0, 0
        self._since = time.monotonic()
        self._printer: threading.Thread | None = None

    def start(self, what: str, total: int | None = None) -> None:
        """Begin a new stage of `total` units (None where the size is not known)."""
        self._what, self._total, self._done = what, total or 0, 0
        self._since = time.monotonic()
        if self._printer is None:
            self._printer = threading.Thread(target=self._print, daemon=True)
            self._printer.start()

    def advance(self, amount: int = 1) -> None:
        """Report that `amount` more units are done."""
        self._done += amount

    def stop(self) -> None:
        """Print no more lines."""
        self._over.set()
        if self._printer is not None:
            self._printer.join()

    def _print(self) -> None:
        while not self._over.wait(self._every):
            share = f"{min(self._done / self._total, 1):.0%}, " if self._total else ""
            what = self._what.encode(errors="replace").decode()
            since = time.monotonic() - self._since
            print(f"kgraft: {what}: {share}{since:.0f} s", file=sys.stderr, flush=True)


class Bars:
    """One bar per stage, on a terminal."""

    def __init__(self, rich_progress: RichProgress) -> None:
        self._rich = rich_progress
        self._task: TaskID | None = None

    def start(self, what: str, total: int | None = None) -> None:
        """Fill the bar of the stage before, and begin one of `total` units (None if unknown)."""
        self.fill()
        self._task = self._rich.add_task(what, total=total)

    def advance(self, amount: int = 1) -> None:
        """Report that `amount` more units are done."""
        if self._task is not None:
            self._rich.advance(self._task, amount)

    def fill(self) -> None:
        """Show the stage under way as done."""
        if self._task is not None:
            task = next(task for task in self._rich.tasks if task.id == self._task)
            done = task.total or max(task.completed, 1)
            self._rich.update(self._task, total=done, completed=done)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show a bar per stage on stderr while the block runs; lines where it is not a terminal."""
    if quiet:
        yield Silent()
        return
    from rich.console import Console

    console = Console(stderr=True)
    with _show_bars(console) if console.is_terminal else _show_lines() as progress:
        yield progress


@contextmanager
def _show_lines() -> Iterator[Lines]:
    lines = Lines()
    try:
        yield lines
    finally:
        lines.stop()


@contextmanager
def _show_bars(console: Console) -> Iterator[Bars]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=console) as rich_progress:
        bars = Bars(rich_progress)
        yield bars
        bars.fill()
