"""`kgraft link`: find the entities of a graph in a text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from kgraft.cli.output import AsJson, GraphOption, console, print_json
from kgraft.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from kgraft.graph import Graph
    from kgraft.link import Link

SMALLEST = 0.005  # score of a runner-up that is worth a line
ROOM = 36  # characters of a description in a table


def link(
    text: Annotated[str, typer.Argument(help="The text; '-' reads it from standard input.")],
    graph: GraphOption = "world",
    threshold: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out links whose best candidate scores less."),
    ] = 0.0,
    any_case: Annotated[
        bool, typer.Option("--any-case", help="Take names in small letters too.")
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="An encoder's folder or hub name, if not the built-in one."),
    ] = None,
    facts: Annotated[int, typer.Option(min=0, help="Facts to show of each entity.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Find the entities of a graph in a text and say which entity each name means there.

    Every link shows the candidates it was chosen from. A score is the probability of a candidate
    among those of its mention; it does not say whether the words are meant as a name.

    Examples:

      kgraft link "She flew from Paris to Georgia."

      kgraft link "Who founded Acme?" --graph company --json

      cat report.txt | kgraft link - --threshold 0.8
    """
    from kgraft.graph import Graph
    from kgraft.link import Linker
    from kgraft.text import Encoder

    if text == "-":
        text = _standard_input()
    if not text.strip():
        raise BadInput("the text is empty", remedy="give some words to read")
    opened = Graph.open(graph)
    links = Linker(opened, Encoder.load(encoder))(text, threshold=threshold, any_case=any_case)
    if as_json:
        print_json({"text": text, "links": [_as_object(link) for link in links]})
    elif links:
        print_links(console(), opened, text, links, facts=facts)
    else:
        console().print("no name of the graph was found")
    if not links:
        raise typer.Exit(1)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        reason = f"standard input is not UTF-8 (byte {error.start + 1})"
        raise BadInput(reason, remedy="convert it: iconv -t UTF-8") from error


def _as_object(link: Link) -> dict[str, object]:
    candidates = [
        {
            "id": scored.entity.id,
            "label": scored.entity.label,
            "description": scored.entity.description,
            "types": scored.entity.types,
            "score": scored.score,
            "prior": scored.prior,
            "fit": scored.fit,
        }
        for scored in link.candidates
    ]
    return {
        "start": link.start,
        "end": link.end,
        "surface": link.surface,
        "id": link.entity.id,
        "label": link.entity.label,
        "score": link.score,
        "candidates": candidates,
    }


def print_links(out: Console, graph: Graph, text: str, links: list[Link], *, facts: int) -> None:
    """Print a text with its links, their runners-up, and what the graph knows of each entity."""
    from rich.table import Table

    out.print(_marked(text, links))
    out.print()
    table = Table("mention", "score", "means", "other candidates", box=None, header_style="dim")
    for link in links:
        means = f"[bold green]{escape(link.entity.label)}[/]  {_short(link.entity.description)}"
        table.add_row(escape(link.surface), f"{link.score:.2f}", means, _runners_up(link))
    out.print(table)
    if facts:
        out.print()
    for entity in {link.entity.id: link.entity for link in links}.values() if facts else ():
        sentences = graph.card(entity, limit=facts).sentences()
        name = f"[bold]{escape(entity.label)}[/] [cyan]{escape(entity.id)}[/]"
        out.print(f"{name}  [dim]{escape(' · '.join(sentences))}[/]")


def _runners_up(link: Link) -> str:
    others = [
        f"{other.score:.2f}  {escape(other.entity.label)}, {_short(other.entity.description)}"
        for other in link.candidates[1:3]
        if other.score >= SMALLEST
    ]
    return "\n".join(others)


def _short(description: str) -> str:
    """Return the first part of a description, which is all that a table has room for."""
    first = description.partition(";")[0]
    return escape(first if len(first) <= ROOM else first[: ROOM - 1].rstrip() + "…")


def _marked(text: str, links: list[Link]) -> str:
    pieces, last = [], 0
    for link in links:
        pieces += [escape(text[last : link.start]), f"[bold green]{escape(link.surface)}[/]"]
        last = link.end
    return "".join(pieces) + escape(text[last:])
