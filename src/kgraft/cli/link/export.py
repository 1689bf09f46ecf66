"""`kgraft link export`: a linker whose weights take a byte each, for a fast processor path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_link_model, need_room
from kgraft.cli.link.options import LinkModelOption
from kgraft.cli.output import AsJson, GraphOption, Quiet, console, escape, print_json
from kgraft.progress import progress_bar


def export(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    texts: Annotated[Path, typer.Option(help="Annotated texts, on which the cost is measured.")],
    graph: GraphOption = "world",
    model: LinkModelOption = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a linker with int8 weights for ONNX Runtime beside its own, and measure what it costs.

    A linker opened from the folder uses them by itself if they cost less than half a point of F1.

    Example:  kgraft link export --texts dev.jsonl --graph my-graph --out fast-linker
    """
    from kgraft.corpus import read_annotated
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_link_model(model)
    need_room(out)
    marked = read_annotated(texts, opened)
    from kgraft.link import export_linker

    with progress_bar(quiet) as progress:
        progress.start("exporting", None)
        cost = export_linker(opened, marked, out, model)
    if as_json:
        print_json(cost)
        return
    verdict = "will be used" if cost["used"] else "costs too much and will not be used"
    figures = f"weak F1 {cost['weak_f1']:.4f}, int8 {cost['int8_weak_f1']:.4f}"
    console().print(f"[green]{escape(out)}[/]: {figures}; {verdict}")
