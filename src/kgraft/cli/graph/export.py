"""`kgraft graph export`: write a graph in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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

ExportFormat = Annotated[
    str | None,
    typer.Option(
        help="tsv, parquet, ntriples, turtle, jsonl, pyg or pykeen; by OUT's suffix, else tsv."
    ),
]


def export(
    out: Annotated[Path, typer.Option("--out", "-o", help="The file or folder to write.")],
    graph: GraphName = "world",
    format: ExportFormat = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Export a graph for other programs, or to import it again.

    Examples:

      kgraft graph export world --out world.nt

      kgraft graph export company --format pykeen --out for-pykeen
    """
    from kgraft.graph import Graph, export_graph

    with progress_bar(quiet) as progress:
        opened = Graph.open(graph)
        written = export_graph(opened, out, format=format, progress=progress)
    if as_json:
        print_json({"out": str(out), "format": written})
        return
    console().print(f"[green]{escape(out)}[/]: written as {written}")
    if opened.manifest.literals and written in ("pyg", "pykeen"):
        count = f"{opened.manifest.literals:,} values of properties"
        console().print(f"  left out: {count}; the other formats hold them")
