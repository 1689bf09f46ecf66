"""Progress of long work: a bar on stderr for people, nothing for programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


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


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show a bar a stage on stderr while the block runs; silent where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield Silent()
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
