"""Options of the commands that fine-tune joint models, and how they print what they measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.output import console, escape, print_json

if TYPE_CHECKING:
    from kgraft.measure import Difference

JointModelOption = Annotated[
    Path, typer.Option("--model", "-m", help="A folder of 'kgraft joint pretrain'.")
]
Seeds = Annotated[int, typer.Option(min=1, max=1000, help="Trainings.")]


def print_difference(task: str, difference: Difference, *, as_json: bool) -> None:
    """Print what knowledge adds on a task."""
    if as_json:
        print_json({"task": task, **difference.to_dict()})
    else:
        console().print(escape(f"{task}  {difference}"))
