"""Options of the commands that fine-tune joint models, and how they print what they measured."""

from __future__ import annotations

from collections.abc import Mapping
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
Strategies = Annotated[
    bool,
    typer.Option("--strategies", help="Compare when the model gets to know the graph, if at all."),
]
EncoderOption = Annotated[
    str | None,
    typer.Option(help="With --strategies: the encoder it was trained from, if it was moved."),
]


def print_differences(
    task: str, measured: Difference | Mapping[str, Difference], *, as_json: bool
) -> None:
    """Print the difference on a task, or that of each strategy."""
    if not isinstance(measured, Mapping):
        if as_json:
            print_json({"task": task, **measured.to_dict()})
        else:
            console().print(escape(f"{task}  {measured}"))
        return
    if as_json:
        parts = {name: difference.to_dict() for name, difference in measured.items()}
        print_json({"task": task, **parts})
        return
    for name, difference in measured.items():
        console().print(escape(f"{name}  {difference}"))
