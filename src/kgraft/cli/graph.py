"""`kgraft graph`: import, look at, search, check and export graphs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from kgraft.cli import graph_change, graph_query
from kgraft.cli.example import example
from kgraft.cli.output import (
    MOST,
    AsJson,
    GraphName,
    GraphOption,
    Quiet,
    console,
    escape,
    finite,
    print_json,
)
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Card, Entity, Graph, GraphPath

app = typer.Typer(
    help="Import, look at, search, query, change, check and export graphs.", no_args_is_help=True
)
app.add_typer(graph_change.app)
app.add_typer(graph_query.app)
app.command()(example)


Source = Annotated[
    str,
    typer.Argument(
        help="A file or folder: TSV, CSV, Excel, RDF, Wikidata JSON, WordNet, JSON Lines, Parquet, "
        "GraphML, GEXF, GML, Pajek, DOT, OBO, node-link JSON; files may be packed (.gz, .bz2). "
        "Or a SPARQL endpoint: https://…"
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="tsv, rdf, wikidata, wordnet, jsonl, parquet, xlsx, graphml, gexf, gml, pajek, dot, "
        "obo, nodelink or sql; found by itself."
    ),
]
Lang = Annotated[str, typer.Option(help="Language of labels, where the source has several.")]
BlankNodes = Annotated[
    str,
    typer.Option(help="What becomes of RDF's blank nodes without a name: fold, keep or drop."),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave bad lines out; they go to OUT.refused.tsv.")
]
Columns = Annotated[
    str,
    typer.Option(help="Columns of a table by name or number: head=from,relation=3,tail=to."),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether a table begins with its columns' names."),
]
Undeclared = Annotated[
    str, typer.Option(help="Entities that only triples name: add or refuse them.")
]
Query = Annotated[
    Path | None, typer.Option(help="What to ask a SPARQL endpoint; all triples, by default.")
]
ExternalIds = Annotated[
    bool, typer.Option("--external-ids", help="Keep the ids that other sites have for Wikidata's.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a graph that is there.")]
RATIO = 200.0  # as in `kgraft.graph.readers.stream`
ExportFormat = Annotated[
    str | None,
    typer.Option(
        help="tsv, parquet, ntriples, turtle, jsonl, pyg or pykeen; by OUT's suffix, else tsv."
    ),
]


@app.command("import")
def import_(
    source: Source,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    format: Format = None,
    lang: Lang = "en",
    blank_nodes: BlankNodes = "fold",
    name: Annotated[str, typer.Option(help="Name of the graph; the folder's, by default.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the data, kept with it.")] = "",
    columns: Columns = "",
    header: Header = None,
    undeclared: Undeclared = "add",
    query: Query = None,
    external_ids: ExternalIds = False,
    skip_bad: SkipBad = False,
    unpack_ratio: Annotated[
        float,
        typer.Option(
            min=1,
            callback=finite,
            help="How many times its size a .gz or .bz2 file may unpack to, beyond 64 MiB.",
        ),
    ] = RATIO,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Import a graph.

    Examples:

      kgraft graph import my-graph/ --out company

      kgraft graph import dump.json.bz2 --out wikidata-de --lang de

      kgraft graph import facts.nt.gz --out facts --skip-bad

      kgraft graph import edges.csv --out friends --columns head=person,tail=friend

      kgraft graph import pizza.owl --out pizza --blank-nodes drop

      kgraft graph import https://example.org/sparql --out some --query some.rq
    """
    from kgraft.graph import Refusals, build_graph, open_source
    from kgraft.graph.readers.stream import unpack_ratio as unpacking

    refused = out.parent / f"{out.name}.refused.tsv"
    refusals = Refusals(skip=skip_bad, path=refused)
    with progress_bar(quiet) as progress, unpacking(unpack_ratio):
        manifest = build_graph(
            open_source(
                source,
                format=format,
                lang=lang,
                blank_nodes=_blank_nodes(blank_nodes),
                columns=_column_names(columns),
                header=header,
                undeclared=_undeclared(undeclared),
                query=query,
                external_ids=external_ids,
            ),
            out,
            name=name,
            licence=licence,
            refusals=refusals,
            overwrite=overwrite,
            progress=progress,
        )
    if skip_bad and not refusals.count:
        refused.unlink(missing_ok=True)  # of an import before this one
    if as_json:
        print_json(manifest)
        return
    counts = f"{manifest.entities:,} entities, {manifest.relations:,} relations"
    console().print(f"[green]{escape(out)}[/]: {counts}, {manifest.triples:,} triples")
    for reason, count in manifest.left_out.items():
        console().print(f"  left out: {count:,} {escape(reason)}")
    for text in manifest.notes:
        console().print(f"  {escape(text)}")
    for reason, count in manifest.refused.items():
        console().print(f"  refused: {count:,} × {escape(reason)}; see {escape(refused)}")


def _column_names(text: str) -> dict[str, str]:
    """Return the columns by their role of `head=a,tail=b`."""
    from kgraft.errors import BadInput

    pairs = [part.partition("=") for part in text.split(",") if part]
    if not all(role.strip() and name.strip() for role, _, name in pairs):
        remedy = "write it as in --columns head=from,relation=3,tail=to"
        raise BadInput(f"--columns cannot be read: {text[:80]}", remedy=remedy)
    return {role.strip(): name.strip() for role, _, name in pairs}


def _blank_nodes(text: str) -> Literal["fold", "keep", "drop"]:
    from kgraft.errors import BadInput

    if text in ("fold", "keep", "drop"):
        return cast(Literal["fold", "keep", "drop"], text)
    raise BadInput(f"--blank-nodes is {text[:40]!r}", remedy="choose fold, keep or drop")


def _undeclared(text: str) -> Literal["add", "refuse"]:
    from kgraft.errors import BadInput

    if text in ("add", "refuse"):
        return cast(Literal["add", "refuse"], text)
    raise BadInput(f"--undeclared is {text[:40]!r}", remedy="choose add or refuse")


@app.command()
def info(graph: GraphName = "world", as_json: AsJson = False) -> None:
    """Say what a graph holds.

    Examples:

      kgraft graph info world

      kgraft graph info company --json
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    if as_json:
        print_json(opened.manifest)
        return
    console().print(_info_table(opened))


def _info_table(graph: Graph) -> object:
    from rich.table import Table

    facts = asdict(graph.manifest)
    files = facts.pop("files")
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("[bold]folder[/]", escape(str(graph.folder)))
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count:,}" for name, count in value.items() if count)
        if isinstance(value, list):
            value = "; ".join(value)
        shown = f"{value:,}" if isinstance(value, int) else value
        if shown not in ("", "0"):
            table.add_row(f"[bold]{key.replace('_', ' ')}[/]", escape(shown))
    table.add_row("[bold]size[/]", f"{sum(f['bytes'] for f in files.values()) / 1e6:,.1f} MB")
    return table


@app.command()
def show(
    entity: Annotated[str, typer.Argument(help="Id or name of an entity.")],
    graph: GraphOption = "world",
    facts: Annotated[
        int, typer.Option(min=0, max=MOST, help="How many facts or paths to show.")
    ] = 20,
    to: Annotated[str | None, typer.Option(help="Show the paths to this entity instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a graph knows about an entity, or how two are connected.

    Examples:

      kgraft graph show Paris

      kgraft graph show Kenya --to Brazil
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    found = opened.resolve(entity)
    if to is not None:
        _show_paths(_paths(opened, found, opened.resolve(to), facts), as_json)
        return
    card = opened.card(found, limit=facts)
    others = [other for other in opened.find(entity) if other != found]
    if as_json:
        ids = [other.id for other in others]
        print_json({**asdict(card), "sentences": card.sentences(), "others": ids})
        return
    print_card(card)
    if others:
        named = ", ".join(f"{other.label} ({other.id})" for other in others[:5])
        console().print(f"  [dim]also named so: {escape(named)}[/]")


def _paths(graph: Graph, start: Entity, end: Entity, limit: int) -> list[GraphPath]:
    """Return paths, those once that only differ in the direction of a triple that has a mirror."""
    found = graph.paths(start, end, limit=limit * 8)
    distinct = {(path.entities, path.relations): path for path in reversed(found)}
    return list(distinct.values())[::-1][:limit]


def print_card(card: Card) -> None:
    """Print an entity's card."""
    from kgraft.graph.iri_names import short_iri

    entity, out = card.entity, console()
    types = f"  [dim]{escape(', '.join(entity.types))}[/]" if entity.types else ""
    out.print(f"[bold]{escape(entity.label)}[/]  [cyan]{escape(short_iri(entity.id))}[/]{types}")
    if entity.description:
        out.print(f"  {escape(entity.description)}")
    if entity.aliases:
        more = f" … ({len(entity.aliases)})" if len(entity.aliases) > 8 else ""
        out.print(f"  [dim]also: {escape(', '.join(entity.aliases[:8]))}{more}[/]")
    for sentence in card.sentences():
        out.print(f"  • {escape(sentence)}")
    for literal in card.literals:
        out.print(f"  [dim]{escape(literal.words())}[/]")
    if card.facts > len(card.neighbours):
        out.print(f"  [dim]… {card.facts:,} facts in all[/]")


def _show_paths(paths: list[GraphPath], as_json: bool) -> None:
    if as_json:
        print_json([_path_json(path) for path in paths])
    else:
        for line in [path.words() for path in paths] or ["no path of up to three triples"]:
            console().print(escape(line))
    if not paths:
        raise typer.Exit(1)


def _path_json(path: GraphPath) -> dict[str, object]:
    return {
        "entities": [entity.id for entity in path.entities],
        "relations": [relation.id for relation in path.relations],
        "forward": list(path.forward),
        "words": path.words(),
    }


@app.command()
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

    found = Graph.open(graph).search(words, limit=limit)
    if as_json:
        print_json([asdict(hit) for hit in found])
    elif found:
        table = Table("entity", "label", "found by", "description", box=None)
        for hit in found:
            how = f"{hit.how}: {hit.name}"
            cells = (hit.entity.id, hit.entity.label, how, hit.entity.description)
            table.add_row(*map(escape, cells))
        console().print(table)
    else:
        console().print(escape(f"nothing is named like {words!r}"))
    if not found:
        raise typer.Exit(1)


@app.command()
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


@app.command()
def check(graph: GraphName = "world", quiet: Quiet = False, as_json: AsJson = False) -> None:
    """Verify every checksum and every table of a graph; exit code 1 where something is wrong.

    Example:  kgraft graph check world
    """
    from kgraft.graph import Graph, check_graph
    from kgraft.graph.migrate import is_current

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
