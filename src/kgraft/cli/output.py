"""What every command shares: errors as one line, JSON for programs, tables for people."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kgraft.errors import KgraftError
from kgraft.json_text import to_json
from kgraft.settings import COUNT, EPOCHS, LARGEST_SEED
from kgraft.storage import FULL

if TYPE_CHECKING:
    from rich.console import Console

    from kgraft.training import Epoch

MOST = int(COUNT[1])  # rows that are shown, read or made
MOST_EPOCHS = int(EPOCHS[1])
NARROWEST = 100  # columns where the output is not a terminal

NO_MEMORY = ("can't allocate memory", "out of memory")  # in torch's own words

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random choices.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there.")]
GraphName = Annotated[
    str, typer.Argument(help="A graph's folder, or a built-in graph.", metavar="GRAPH")
]
GraphOption = Annotated[
    str, typer.Option("--graph", "-g", help="A graph's folder, or a built-in graph.")
]


class OneLineErrors(TyperGroup):
    """A group of commands whose errors end in one line and exit code 2."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run the command; with --debug errors keep their trace."""
        try:
            return super().invoke(ctx)
        except (KgraftError, OSError, MemoryError, RuntimeError) as error:
            line = _line(error)
            if line is None or ctx.params.get("debug") or isinstance(error, BrokenPipeError):
                raise
            print(f"kgraft: {line}", file=sys.stderr)
            raise typer.Exit(2) from error
        except KeyboardInterrupt as interrupt:
            print("kgraft: interrupted; run the same command to resume", file=sys.stderr)
            raise typer.Exit(130) from interrupt


def _line(error: KgraftError | OSError | MemoryError | RuntimeError) -> str | None:
    """Return in one line what went wrong; of an error of the system, its file and its reason.

    None is for what should not happen: its trace is shown.
    """
    if isinstance(error, MemoryError | RuntimeError):
        full = isinstance(error, MemoryError) or any(w in str(error) for w in NO_MEMORY)
        return "the memory is full; give smaller numbers or fewer data at once" if full else None
    if isinstance(error, KgraftError) or error.strerror is None:
        line = str(error)
    else:
        named = error.filename is not None
        line = f"{os.fsdecode(error.filename)}: {error.strerror}" if named else error.strerror
        if error.errno in FULL:
            line += "; nothing was written: free some space and try again"
    return _visible(line.replace("\r", "\\r").replace("\n", "\\n"))


def escape(text: object) -> str:
    """Return a text for the console as it is: without markup, control characters written out.

    >>> escape("[/] \\x1b[2J")
    '\\\\[/] \\\\x1b[2J'
    """
    from rich.markup import escape

    shown = _visible(str(text))
    bare = shown.rstrip("\\")
    # Backslashes at the end would escape the tag that follows: they get one of their own.
    end = "\\\\" * (len(shown) - len(bare))
    return escape(bare) + (f"{end}[none][/none]" if end else "")


def _visible(text: str) -> str:
    """Return a text with control characters, but for tabs and line ends, in words."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def finite(number: float | None) -> float | None:
    """Refuse an option that is not a finite number; 'nan' is within all limits."""
    if number is not None and not isfinite(number):
        raise typer.BadParameter(f"{number} is not a finite number.")
    return number


def console() -> Console:
    """Return the console for results; a file or a pipe gets wide tables and unbroken lines."""
    from rich.console import Console

    made = Console(highlight=False, emoji=False)  # `:b:` in an id is not an emoji
    if not made.is_terminal:
        made.width, made.soft_wrap = max(made.width, NARROWEST), True
    return made


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    print(to_json(plain, indent=2))


def epoch_line(epoch: Epoch, losses: Iterable[str], figures: Iterable[str]) -> str:
    """Return a line with some losses of an epoch, and the figures that were measured."""
    shown_losses = "  ".join(f"{name} {epoch.losses[name]:.3f}" for name in losses)
    shown_figures = "  ".join(
        f"{name.replace('_', ' ')} {epoch.figures[name]:.3f}"
        for name in figures
        if name in epoch.figures
    )
    best = "  (best)" if epoch.best else ""
    return f"epoch {epoch.number}  {shown_losses}  {shown_figures}{best}"


def print_trained(out: Path, figures: Mapping[str, float], hint: str, *, as_json: bool) -> None:
    """Print where a trained model was written, and the command that uses it."""
    if as_json:
        print_json({"out": str(out), **figures})
    else:
        console().print(f"[green]{escape(out)}[/]: {escape(hint)}")
