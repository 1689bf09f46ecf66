"""Options that the commands of `kgraft graph` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a graph that is there.")]
Fact = Annotated[
    list[str] | None,
    typer.Argument(help="A fact: head, relation, tail, by id or label.", metavar="H R T"),
]
GivenGraph = Annotated[
    str, typer.Argument(help="A graph's folder, or a built-in graph.", metavar="GRAPH")
]
