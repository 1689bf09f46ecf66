"""`kgraft link index`: find entities by meaning too, not only by name."""

from __future__ import annotations

from typing import Annotated

import typer

from kgraft.cli.given import need_link_model
from kgraft.cli.link.options import LinkModelOption
from kgraft.cli.output import GraphName, Quiet, console
from kgraft.progress import progress_bar


def index(
    graph: GraphName = "world",
    model: LinkModelOption = None,
    static: Annotated[
        bool,
        typer.Option("--static", help="Use static word vectors: minutes for a million entities."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Build the index that finds entities whose names are not in the text.

    Linking works without it. With it, a mention that is not a name of the graph gets the entities
    nearest in meaning as candidates. It is kept in the cache, for this version of the graph and
    this encoder. Interrupted, the same command resumes.

    Examples:

      kgraft link index my-graph

      kgraft link index my-graph --static
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_link_model(model)
    from kgraft.link import Linker

    with progress_bar(quiet) as progress:
        Linker(opened, model).build_index(static=static, progress=progress)
    console().print(f"[green]{len(opened.entities):,} entities[/] indexed")
