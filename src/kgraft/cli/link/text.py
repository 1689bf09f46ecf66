"""`kgraft link TEXT`: find the entities of a graph in a text, or in a file of texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_entities, need_lines, need_link_model, need_new_file
from kgraft.cli.link.options import LinkModelOption, Threshold
from kgraft.cli.output import MOST, AsJson, GraphOption, Quiet, console, escape, print_json
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from rich.console import Console

    from kgraft.graph import Graph
    from kgraft.link import Link, Linker

SMALLEST = 0.005  # score of a runner-up that is worth a line
ROOM = 36  # characters of a description in a table


def text(
    text: Annotated[
        str | None, typer.Argument(help="The text; '-' reads it from standard input.")
    ] = None,
    graph: GraphOption = "world",
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Texts to link: JSON Lines with a text, or plain lines."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the links of --file go, a line each.")
    ] = None,
    model: LinkModelOption = None,
    threshold: Threshold = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Link only names as the graph has them.")
    ] = False,
    pin: Annotated[
        list[str] | None,
        typer.Option(help="NAME=ID: a name that always means this entity; may be repeated."),
    ] = None,
    facts: Annotated[int, typer.Option(min=0, max=MOST, help="Facts to show of each entity.")] = 3,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find the entities of a graph in a text and say which entity each mention means there.

    Every link shows the candidates it was chosen from. A score is the probability that the mention
    refers to the candidate, and not to another entity or to none. Nothing has to be trained or
    prepared first; `kgraft link index` adds candidates by meaning.

    Examples:

      kgraft link "She flew from Paris to Georgia."

      kgraft link "Who founded Acme?" --graph company --json

      kgraft link "Mercury is late." --graph company --pin "Mercury=project:7"

      cat report.txt | kgraft link - --threshold 0.8

      kgraft link --file docs.jsonl --out links.jsonl --graph company
    """
    text = _given_text(text, file, out)
    pins = _parse_pins(pin or [])
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_lines(file)
    need_new_file(out)
    need_link_model(model)
    need_entities(opened, pins.values())
    from kgraft.link import Linker

    with progress_bar(quiet) as progress:
        progress.start("opening the linker")
        linker = Linker(opened, model, pin=pins, exact=exact)
        if file is not None:
            from kgraft.link import link_file

            link_file(linker, file, out or sys.stdout, threshold=threshold, progress=progress)
        if text is not None:
            progress.start("linking, and encoding entities seen for the first time")
            links = linker(text, threshold=threshold)
    if text is not None:
        _show(linker, text, links, facts=facts, as_json=as_json)


def _show(linker: Linker, text: str, links: list[Link], *, facts: int, as_json: bool) -> None:
    if as_json:
        print_json({"text": text, "links": [link.to_dict() for link in links]})
    elif links:
        print_links(console(), linker.graph, text, links, facts=facts)
    else:
        console().print("no entity of the graph was found")
    if not links:
        raise typer.Exit(1)


def _parse_pins(pins: list[str]) -> dict[str, str]:
    """Return names and ids of NAME=ID."""
    pairs = {}
    for pin in pins:
        name, separator, entity = pin.rpartition("=")
        if not (name.strip() and separator and entity.strip()):
            raise BadInput(f"--pin is {pin!r}", remedy="write NAME=ID")
        pairs[name.strip()] = entity.strip()
    return pairs


def _given_text(text: str | None, file: Path | None, out: Path | None) -> str | None:
    """Return the text, if one is given; refuse what does not go together."""
    if (text is None) == (file is None):
        raise BadInput("give a text, or --file with texts", remedy="kgraft link --help")
    if out is not None and file is None:
        raise BadInput("--out is for the links of --file", remedy="leave it out, or use --json")
    if text == "-":
        text = _standard_input()
    if text is not None and not text.strip():
        raise BadInput("the text is empty", remedy="give some words to read")
    return text


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        reason = f"standard input is not UTF-8 (byte {error.start + 1})"
        raise BadInput(reason, remedy="convert it: iconv -t UTF-8") from error


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
