"""`kgraft graph query, stats`: questions in patterns or SPARQL, and a graph on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.output import MOST, AsJson, GraphName, Quiet, console, escape, print_json
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Graph, GraphProfile, Solutions

app = typer.Typer()


@app.command()
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
    from kgraft.errors import BadInput
    from kgraft.graph import Graph

    if sparql is not None:
        if patterns is not None and graph is not None:
            raise BadInput("name patterns or --sparql, one of them")
        _sparql(Graph.open(patterns or graph or "world"), sparql, limit, quiet, as_json)
        return
    if patterns is None:
        raise BadInput("no patterns", remedy='for example: kgraft graph query "?x capital_of ?y"')
    found = Graph.open(graph or "world").query(patterns)
    if as_json:
        rows = [
            {name: {"id": part.id, "label": part.label} for name, part in row.items()}
            for row in found.head(limit)
        ]
        print_json({"variables": found.variables, "count": len(found), "rows": rows})
    else:
        _print_solutions(found, limit)
    if not len(found):
        raise typer.Exit(1)


def _print_solutions(found: Solutions, limit: int) -> None:
    for name, entity in found.meant.items():
        taken = f"{name!r} is taken for {entity.label} ({entity.id}), one of several"
        console().print(f"[dim]{escape(taken)}[/]")
    rows = [[f"{part.label} ({part.id})" for part in row.values()] for row in found.head(limit)]
    _print_table(found.variables, rows)
    if len(found) > limit or not len(found):
        console().print(f"[dim]{len(found):,} rows in all[/]")


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
    from kgraft.errors import BadInput

    if any(letter in text for letter in "{?\n"):
        return text
    try:
        return Path(text).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("is not UTF-8", file=text, remedy="save the query as UTF-8") from error


@app.command()
def stats(
    graph: GraphName = "world",
    svg: Annotated[Path | None, typer.Option(help="Also draw it as a picture.")] = None,
    relations: Annotated[
        int, typer.Option(min=0, max=MOST, help="How many relations to show, the largest first.")
    ] = 15,
    as_json: AsJson = False,
) -> None:
    """Profile a graph on one page, and say what it lacks for linking and for asking.

    Degrees, relations with their cardinality, types, ambiguous names, texts, connected parts,
    and values by property.

    Examples:

      kgraft graph stats world

      kgraft graph stats world --svg world.svg
    """
    from kgraft.graph import Graph, profile_graph, profile_svg
    from kgraft.storage import new_file

    profile = profile_graph(Graph.open(graph))
    if svg is not None:
        with new_file(svg) as path:
            path.write_text(profile_svg(profile), "utf-8")
    if as_json:
        print_json(profile.to_dict())
    else:
        _print_profile(profile, relations)
        if svg is not None:
            console().print(f"[green]{escape(str(svg))}[/]: drawn")


def _print_profile(profile: GraphProfile, most: int) -> None:
    from rich.table import Table

    facts = Table(show_header=False, box=None, padding=(0, 2))
    for name, text in _profile_rows(profile):
        facts.add_row(f"[bold]{name}[/]", escape(text))
    console().print(facts)
    table = Table("relation", "triples", "heads", "tails", "kind", "mirrors", box=None)
    for relation in profile.relations[:most]:
        mirrors = ["symmetric"] if relation.symmetric else []
        mirrors += [f"inverse of {other}" for other in relation.inverse_of]
        mirrors += [f"same as {other}" for other in relation.duplicate_of]
        counts = (f"{n:,}" for n in (relation.triples, relation.heads, relation.tails))
        cells = (relation.label, *counts, relation.cardinality, ", ".join(mirrors))
        table.add_row(*map(escape, cells))
    console().print(table)
    if profile.properties:
        _print_properties(profile, most)
    for sentence in profile.advice:
        console().print(f"[yellow]•[/] {escape(sentence)}")


def _print_properties(profile: GraphProfile, most: int) -> None:
    from rich.table import Table

    table = Table("property", "values", "entities", "kinds", "from", "to", box=None)
    for found in profile.properties[:most]:
        kinds = ", ".join(found.kinds)
        counts = (f"{n:,}" for n in (found.values, found.entities))
        table.add_row(*map(escape, (found.label, *counts, kinds, found.least, found.most)))
    console().print(table)


def _profile_rows(profile: GraphProfile) -> list[tuple[str, str]]:
    degrees, names = profile.degrees, profile.names
    splits = ", ".join(f"{name} {count:,}" for name, count in profile.splits.items() if count)
    kinds = ", ".join(f"{kind}: {n}" for kind, n in profile.cardinalities().items() if n)
    return [
        ("graph", f"{profile.name} {profile.version}"),
        ("entities", f"{profile.entities:,}"),
        ("triples", f"{profile.triples:,} ({splits})" if splits else "0"),
        ("relations", f"{len(profile.relations):,} ({kinds})" if kinds else "0"),
        ("with", ", ".join(f"{name} {share:.0%}" for name, share in profile.shares.items())),
        ("types", _listing(profile.types, profile.type_count)),
        (
            "degree",
            f"mean {degrees.mean:.1f}, median {degrees.median:g}, up to {degrees.highest:,}",
        ),
        ("by degree", ", ".join(f"{n}: {count:,}" for n, count in degrees.histogram.items())),
        ("hubs", _listing(degrees.hubs, len(degrees.hubs))),
        (
            "names",
            f"{names.names:,}, {names.ambiguous:,} mean several entities "
            f"(up to {names.most_entities}: {names.most_ambiguous})",
        ),
        ("shared labels", f"{names.shared_labels:,} entities have the label of another one"),
        (
            "connected",
            f"{profile.components:,} parts; the largest has {profile.largest_component:.0%} "
            "of the entities",
        ),
        ("leakage", profile.leakage),
    ]


def _listing(counts: dict[str, int], total: int) -> str:
    more = f", … ({total:,} in all)" if total > len(counts) else ""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) + more
