"""`kgraft graph example`: write the example data that comes with kgraft."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.output import AsJson, console, escape, print_json


def example(
    name: Annotated[
        str | None, typer.Argument(help="Which example; without it they are listed.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder to write; NAME-example by default."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an example that is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write example data: a graph to import, documents with marked mentions, and questions.

    Examples:

      kgraft graph example

      kgraft graph example company --out company-example
    """
    from kgraft.graph import examples, write_example

    if name is None:
        _list(examples(), as_json)
        return
    target = Path(f"{name}-example") if out is None else out
    files = write_example(name, target, overwrite=overwrite)
    if as_json:
        print_json({"out": str(target), "files": [file.name for file in files]})
        return
    shown = ", ".join(file.name for file in files)
    console().print(f"[green]{escape(str(target))}[/]: {escape(shown)}")
    console().print(f"next:  kgraft graph import {escape(str(target))} --out {escape(name)}")


def _list(examples: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(examples)
        return
    for name, title in examples.items():
        console().print(f"[bold]{escape(name)}[/]  {escape(title)}")
    console().print("[dim]write one with:  kgraft graph example NAME --out DIR[/]")
