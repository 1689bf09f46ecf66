"""`kgraft graph import`: make a graph of a file, a folder or a SPARQL endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from kgraft import streams
from kgraft.cli.graph.options import Overwrite
from kgraft.cli.output import (
    AsJson,
    Quiet,
    console,
    escape,
    finite,
    print_json,
)
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Manifest

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
    ] = float(streams.RATIO),
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

    refused = out.parent / f"{out.name}.refused.tsv"
    refusals = Refusals(skip=skip_bad, path=refused)
    with progress_bar(quiet) as progress, streams.unpack_ratio(unpack_ratio):
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
    _report(manifest, out, refused)


def _report(manifest: Manifest, out: Path, refused: Path) -> None:
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
    pairs = [part.partition("=") for part in text.split(",") if part]
    if not all(role.strip() and name.strip() for role, _, name in pairs):
        remedy = "write it as in --columns head=from,relation=3,tail=to"
        raise BadInput(f"--columns cannot be read: {text[:80]}", remedy=remedy)
    return {role.strip(): name.strip() for role, _, name in pairs}


def _blank_nodes(text: str) -> Literal["fold", "keep", "drop"]:
    if text in ("fold", "keep", "drop"):
        return cast(Literal["fold", "keep", "drop"], text)
    raise BadInput(f"--blank-nodes is {text[:40]!r}", remedy="choose fold, keep or drop")


def _undeclared(text: str) -> Literal["add", "refuse"]:
    if text in ("add", "refuse"):
        return cast(Literal["add", "refuse"], text)
    raise BadInput(f"--undeclared is {text[:40]!r}", remedy="choose add or refuse")
