"""`kgraft graph remove`: a new version of a graph without some of its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.graph.options import Fact, GivenGraph, Out, Overwrite
from kgraft.cli.graph.report import report_change
from kgraft.cli.output import (
    AsJson,
    Quiet,
)
from kgraft.errors import BadInput
from kgraft.progress import progress_bar


def remove(
    graph: GivenGraph,
    fact: Fact = None,
    out: Out = ...,  # type: ignore[assignment]
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", "-e", help="An entity, with all its triples; may be repeated."),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option("--relation", "-r", help="A relation, with all its triples."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="A file of triples to remove.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Remove entities, relations or triples, each by id or exact label.

    The result is a new version of the graph; all that is named must be there.

    Examples:

      kgraft graph remove world Germany borders Czechia --out world-3

      kgraft graph remove world --entity Oceania --relation currency --out world-4
    """
    from kgraft.graph import Graph, read_triples, remove_parts

    triples = [fact] if fact else []
    triples += list(read_triples(source)) if source is not None else []
    if not (triples or entity or relation):
        raise BadInput("nothing to remove was named; name a fact, --entity, --relation or --from")
    opened = Graph.open(graph)
    with progress_bar(quiet) as progress:
        new = remove_parts(
            opened,
            out,
            entities=entity or (),
            relations=relation or (),
            triples=triples,
            overwrite=overwrite,
            progress=progress,
        )
    report_change(new, [opened], {}, [], as_json)
