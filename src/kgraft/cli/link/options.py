"""Options that the commands of `kgraft link` share."""

from __future__ import annotations

from typing import Annotated

import typer

from kgraft.cli.output import finite

LinkModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", help="A folder of 'kgraft link train', if not the built-in one."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        callback=finite,
        help="Least score of a link: higher finds fewer, more of them right.",
    ),
]
