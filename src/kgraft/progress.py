"""Progress of long work on stderr: a bar on a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

EVERY = 10.0  # seconds between two lines where stderr is no terminal


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
    """Tells how far work is in a line every some seconds, from a thread of its own.

    Work that is done before the first line is due says nothing.
    """

    def __init__(self, every: float = EVERY) -> None:
        self._every, self._over = every, threading.Event()
        self._what, self._total, self._done = "", 0, 0
        self._since = time.monotonic()
        self._teller: threading.Thread | None = None

    def start(self, what: str, total: int | None = None) -> None:
        """Begin a new stage of `total` units (None where the size is not known)."""
        self._what, self._total, self._done = what, total or 0, 0
        self._since = time.monotonic()
        if self._teller is None:
            self._teller = threading.Thread(target=self._tell, daemon=True)
            self._teller.start()

    def advance(self, amount: int = 1) -> None:
        """Report that `amount` more units are done."""
        self._done += amount

    def stop(self) -> None:
        """Tell no more."""
        self._over.set()
        if self._teller is not None:
            self._teller.join()

    def _tell(self) -> None:
        while not self._over.wait(self._every):
            share = f"{min(self._done / self._total, 1):.0%}, " if self._total else ""
            what = self._what.encode(errors="replace").decode()
            since = time.monotonic() - self._since
            print(f"kgraft: {what}: {share}{since:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show a bar a stage on stderr while the block runs; lines where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    if quiet:
        yield Silent()
        return
    if not console.is_terminal:
        lines = Lines()
        try:
            yield lines
        finally:
            lines.stop()
        return

    class Bar:
        """One rich task a stage."""

        def __init__(self, rich_progress: RichProgress) -> None:
            self.rich = rich_progress
            self.task: TaskID | None = None

        def _finish(self) -> None:
            if self.task is not None:
                task = next(t for t in self.rich.tasks if t.id == self.task)
                done = task.total or max(task.completed, 1)
                self.rich.update(self.task, total=done, completed=done)

        def start(self, what: str, total: int | None = None) -> None:
            self._finish()
            self.task = self.rich.add_task(what, total=total)

        def advance(self, amount: int = 1) -> None:
            if self.task is not None:
                self.rich.advance(self.task, amount)

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=console) as rich_progress:
        bar = Bar(rich_progress)
        yield bar
        bar._finish()
