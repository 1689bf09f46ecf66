"""`kgraft graph search`: find entities by name or description."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kgraft.cli.output import (
    MOST,
    AsJson,
    GraphOption,
    console,
    escape,
    print_json,
)


def search(
    words: Annotated[
        str, typer.Argument(help="A name, its beginning, its words, or those of a description.")
    ],
    graph: GraphOption = "world",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="How many to show.")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Search entities by name (exact, by prefix, by words in any order) and by description.

    A name with a typo or two is found where no entity has exactly that name.

    Examples:

      kgraft graph search "san jo" -n 5

      kgraft graph search "Untied Sates"
    """
    from rich.table import Table

    from kgraft.graph import Graph

    hits = Graph.open(graph).search(words, limit=limit)
    if as_json:
        print_json([asdict(hit) for hit in hits])
    elif hits:
        table = Table("entity", "label", "found by", "description", box=None)
        for hit in hits:
            how = f"{hit.how}: {hit.name}"
            cells = (hit.entity.id, hit.entity.label, how, hit.entity.description)
            table.add_row(*map(escape, cells))
        console().print(table)
    else:
        console().print(escape(f"nothing is named like {words!r}"))
    if not hits:
        raise typer.Exit(1)
