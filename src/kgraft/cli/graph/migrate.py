"""`kgraft graph migrate`: bring a graph of an older kgraft to the present format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.graph.options import GivenGraph, Overwrite
from kgraft.cli.output import (
    AsJson,
    Quiet,
    console,
    escape,
    print_json,
)
from kgraft.progress import progress_bar


def migrate(
    graph: GivenGraph,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to write, if not in its place.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Bring a graph that an older kgraft wrote to the present form.

    What the graph says stays as it is, down to its version; names and indices are made again. A
    graph that is current is left as it is. Interrupted or killed, there is the old one or the new.

    Examples:

      kgraft graph migrate company

      kgraft graph migrate world --out world-now
    """
    from kgraft.graph import is_current, migrate_graph

    was_current = is_current(graph)
    with progress_bar(quiet) as progress:
        new = migrate_graph(graph, out, overwrite=overwrite, progress=progress)
    if as_json:
        print_json({**asdict(new.manifest), "migrated": out is not None or not was_current})
        return
    done = "is current; nothing was written" if was_current and out is None else "migrated"
    console().print(f"[green]{escape(new.folder)}[/]: {done} (version {new.manifest.version})")
