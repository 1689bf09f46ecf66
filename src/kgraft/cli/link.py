"""`kgraft link`: find the entities of a graph in a text."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.output import AsJson, GraphOption, console, print_json
from kgraft.errors import BadInput

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.link import Link


def link(
    text: Annotated[str, typer.Argument(help="The text; '-' reads it from standard input.")],
    graph: GraphOption = "world",
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out links with a lower score.")
    ] = 0.0,
    encoder: Annotated[
        str | None,
        typer.Option(help="An encoder's folder or hub name, if not the built-in one."),
    ] = None,
    facts: Annotated[int, typer.Option(min=0, help="Facts to show of each entity.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Find the entities of a graph in a text and say which entity each name means there.

    Every link shows its score and the candidates it was chosen from.

    Examples:

      kgraft link "She flew from Paris to Georgia."

      kgraft link "Who founded Acme?" --graph company --json

      cat report.txt | kgraft link - --threshold 0.8
    """
    from kgraft.graph import Graph
    from kgraft.link import Linker
    from kgraft.text import Encoder

    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise BadInput("the text is empty", remedy="give some words to read")
    opened = Graph.open(graph)
    links = Linker(opened, Encoder.load(encoder))(text, threshold=threshold)
    if as_json:
        print_json({"text": text, "links": [_as_object(link) for link in links]})
    elif links:
        _print(opened, text, links, facts)
    else:
        console().print("no name of the graph was found")
    if not links:
        raise typer.Exit(1)


def _as_object(link: Link) -> dict[str, object]:
    return {"entity": link.entity.id, "score": link.score, **asdict(link)}


def _print(graph: Graph, text: str, links: list[Link], facts: int) -> None:
    from rich.table import Table

    out = console()
    out.print(_marked(text, links))
    table = Table("mention", "means", "score", "runners-up", box=None, header_style="dim")
    for link in links:
        others = " · ".join(
            f"{other.entity.label} [dim]({other.entity.description[:40]})[/] {other.score:.2f}"
            for other in link.candidates[1:3]
        )
        means = f"[bold green]{link.entity.label}[/] [cyan]{link.entity.id}[/]"
        table.add_row(link.surface, means, f"{link.score:.2f}", others or "[dim]none[/]")
    out.print(table)
    for entity in {link.entity.id: link.entity for link in links}.values() if facts else ():
        known = graph.card(entity, limit=facts)
        out.print(f"[bold]{entity.label}[/]  [dim]{entity.description}[/]")
        for sentence in known.sentences():
            out.print(f"  • {sentence}")


def _marked(text: str, links: list[Link]) -> str:
    from rich.markup import escape

    pieces, last = [], 0
    for link in links:
        pieces += [escape(text[last : link.start]), f"[bold green]{escape(link.surface)}[/]"]
        last = link.end
    return "".join(pieces) + escape(text[last:])
