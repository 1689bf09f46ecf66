"""`kgraft graph add`: a new version of a graph with more facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kgraft.cli.graph.options import Fact, GivenGraph, Out, Overwrite
from kgraft.cli.graph.report import report_change
from kgraft.cli.output import (
    AsJson,
    Quiet,
)
from kgraft.errors import BadInput
from kgraft.progress import progress_bar


def add(
    graph: GivenGraph,
    fact: Fact = None,
    out: Out = ...,  # type: ignore[assignment]
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A file or folder of facts or entities, as import takes."),
    ] = None,
    format: Annotated[str | None, typer.Option(help="Format of the file.")] = None,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Refuse a fact that makes an entity or relation.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Add a fact, or all of a file, and write the result as a new version of the graph.

    A name in a fact that nothing has becomes a new entity or relation.

    Examples:

      kgraft graph add world "Ada Lovelace" "works for" "Acme" --out world-2

      kgraft graph add company --from news.jsonl --out company-2
    """
    from kgraft.graph import Graph, add_fact, open_source

    if bool(fact) == (source is not None):
        raise BadInput("name a fact (HEAD RELATION TAIL) or a file (--from), one of them")
    opened = Graph.open(graph)
    with progress_bar(quiet) as progress:
        if source is None:
            added = add_fact(
                opened,
                fact or [],
                out,
                known_only=known_only,
                overwrite=overwrite,
                progress=progress,
            )
            new = added.graph
            words = added.relation.verbalise(added.head.label, added.tail.label)
            extra: dict[str, Any] = {"fact": words, "new": list(added.new)}
            notes = ["the graph had this fact already"] if added.was_there else [words]
            notes += [f"new: {name}" for name in added.new]
        else:
            read = open_source(source, format=format)
            new = opened.extend(out, read, overwrite=overwrite, progress=progress)
            extra, notes = {}, []
    report_change(new, [opened], extra, notes, as_json)
