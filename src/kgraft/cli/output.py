"""What every command shares: errors as one line, JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kgraft.errors import KgraftError

if TYPE_CHECKING:
    from rich.console import Console

    from kgraft.training import Epoch

NARROWEST = 100  # columns where the output is no terminal

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
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
        except (KgraftError, OSError) as error:
            if ctx.params.get("debug") or isinstance(error, BrokenPipeError):
                raise
            print(f"kgraft: {_line(error)}", file=sys.stderr)
            raise typer.Exit(2) from error
        except KeyboardInterrupt as interrupt:
            print("kgraft: interrupted; nothing half-written is left", file=sys.stderr)
            raise typer.Exit(130) from interrupt


def _line(error: KgraftError | OSError) -> str:
    """Say in one line what went wrong: ours do, the system's name a file and a reason."""
    if isinstance(error, KgraftError) or error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


def console() -> Console:
    """Return the console for results; a file or a pipe gets wide tables and unbroken lines."""
    from rich.console import Console

    made = Console(highlight=False, emoji=False)  # `:b:` in an id is no emoji
    if not made.is_terminal:
        made.width, made.soft_wrap = max(made.width, NARROWEST), True
    return made


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    print(json.dumps(plain, ensure_ascii=False, indent=2))


def epoch_line(epoch: Epoch, losses: Iterable[str], figures: Iterable[str]) -> str:
    """Return what some losses and figures of an epoch came to, as far as they were measured."""
    lost = "  ".join(f"{name} {epoch.losses[name]:.3f}" for name in losses)
    found = "  ".join(
        f"{name.replace('_', ' ')} {epoch.figures[name]:.3f}"
        for name in figures
        if name in epoch.figures
    )
    best = "  (best)" if epoch.best else ""
    return f"epoch {epoch.number}  {lost}  {found}{best}"
