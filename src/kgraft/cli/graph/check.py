"""`kgraft graph check`: verify the checksums and tables of a graph."""

from __future__ import annotations

import typer

from kgraft.cli.output import (
    AsJson,
    GraphName,
    Quiet,
    console,
    escape,
    print_json,
)
from kgraft.progress import progress_bar


def check(graph: GraphName = "world", quiet: Quiet = False, as_json: AsJson = False) -> None:
    """Verify every checksum and every table of a graph; exit code 1 where something is wrong.

    Example:  kgraft graph check world
    """
    from kgraft.graph import Graph, check_graph, is_current

    folder = Graph.locate(graph)
    with progress_bar(quiet) as progress:
        problems = check_graph(folder, progress)
    if as_json:
        print_json({"graph": str(folder), "problems": problems})
    else:
        for problem in problems:
            console().print(f"[red]{escape(problem)}[/]")
        if not problems:
            console().print(f"[green]{escape(folder)}[/]: all is well")
            if not is_current(folder):
                command = f"kgraft graph migrate {folder}"
                console().print(f"  written by an older kgraft; faster after  {escape(command)}")
    if problems:
        raise typer.Exit(1)
