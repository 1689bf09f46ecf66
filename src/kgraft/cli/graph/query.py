"""`kgraft graph query`: questions in triple patterns or SPARQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.output import (
    MOST,
    AsJson,
    Quiet,
    console,
    escape,
    print_json,
)
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Graph, Solutions


def query(
    patterns: Annotated[
        str | None,
        typer.Argument(help="Triple patterns with ?variables, a dot between two of them."),
    ] = None,
    graph: Annotated[
        str | None, typer.Argument(help="A graph's folder, or a built-in graph [default: world].")
    ] = None,
    sparql: Annotated[
        str | None,
        typer.Option(help="A SPARQL query, or a file with one, in place of patterns."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=MOST, help="How many rows.")
    ] = 100,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Query a graph by triple patterns that are joined by their variables, or by SPARQL.

    Entities and relations are given by id or label; those of several words stand in quotes.

    Examples:

      kgraft graph query "?x capital_of ?y . ?y borders Germany" world

      kgraft graph query "?x 'official language' Spanish . ?x continent ?where" --limit 5 --json

      kgraft graph query --sparql "SELECT ?x { ?x relation:territory_of ?y } LIMIT 5" world
    """
    from kgraft.graph import Graph

    if sparql is not None:
        if patterns is not None and graph is not None:
            raise BadInput("name patterns or --sparql, one of them")
        _sparql(Graph.open(patterns or graph or "world"), sparql, limit, quiet, as_json)
        return
    if patterns is None:
        raise BadInput("no patterns", remedy='for example: kgraft graph query "?x capital_of ?y"')
    solutions = Graph.open(graph or "world").query(patterns)
    if as_json:
        rows = [
            {name: {"id": part.id, "label": part.label} for name, part in row.items()}
            for row in solutions.head(limit)
        ]
        print_json({"variables": solutions.variables, "count": len(solutions), "rows": rows})
    else:
        _print_solutions(solutions, limit)
    if not len(solutions):
        raise typer.Exit(1)


def _print_solutions(solutions: Solutions, limit: int) -> None:
    for name, entity in solutions.meant.items():
        taken = f"{name!r} is taken for {entity.label} ({entity.id}), one of several"
        console().print(f"[dim]{escape(taken)}[/]")
    rows = [[f"{part.label} ({part.id})" for part in row.values()] for row in solutions.head(limit)]
    _print_table(solutions.variables, rows)
    if len(solutions) > limit or not len(solutions):
        console().print(f"[dim]{len(solutions):,} rows in all[/]")


def _print_table(names: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    table = Table(*(f"?{escape(name)}" for name in names), box=None)
    for row in rows:
        table.add_row(*map(escape, row))
    if rows:
        console().print(table)


def _sparql(graph: Graph, text: str, limit: int, quiet: bool, as_json: bool) -> None:
    """Print the answer of a SPARQL query; exit code 1 where it is empty or no."""
    from kgraft.graph import query_sparql

    with progress_bar(quiet) as progress:
        answer = query_sparql(graph, _read_query(text), limit=limit, progress=progress)
    if isinstance(answer, bool):
        if as_json:
            print_json({"answer": answer})
        else:
            console().print("yes" if answer else "no")
        if not answer:
            raise typer.Exit(1)
        return
    rows: list[dict[str, Any]] = answer.to_pylist()
    if as_json:
        print_json({"variables": answer.column_names, "rows": rows})
    else:
        cells = [["" if cell is None else cell for cell in row.values()] for row in rows]
        _print_table(answer.column_names, cells)
        if len(rows) == limit:
            console().print(f"[dim]the first {limit:,} rows; more with --limit[/]")
    if not rows:
        raise typer.Exit(1)


def _read_query(text: str) -> str:
    """Return a query as it is given, or as it stands in the file of that name."""
    if any(letter in text for letter in "{?\n"):
        return text
    try:
        return Path(text).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("is not UTF-8", file=text, remedy="save the query as UTF-8") from error
