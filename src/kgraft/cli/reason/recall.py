"""`kgraft reason recall`: the facts of a graph that fit a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.output import MOST, AsJson, GraphName, Quiet, console, escape, print_json
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.reason import RecalledFact


def recall(
    graph: GraphName,
    text: Annotated[str, typer.Argument(help="A question, or any other text.", metavar="TEXT")],
    about: Annotated[
        list[str] | None,
        typer.Option(help="An entity it is about, by id or name, if not by the names in it."),
    ] = None,
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere", help="Look at all facts, not only at those of named entities."
        ),
    ] = False,
    static: Annotated[
        bool, typer.Option("--static", help="Use the static encoder: faster, less exact.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Facts to show.")
    ] = 10,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Show the facts of a graph that fit a text, with the attention on each.

    The facts are those of the entities that the text names; where it names none, all facts of the
    graph are looked at, which are encoded once and kept in the cache. Facts that differ in one end
    only share a line, which lists the best connected entities and says how many there are.

    Examples:

      kgraft reason recall world "What is the capital of Peru?"

      kgraft reason recall world "Who pays with yen?" --about Japan --limit 3 --json
    """
    from kgraft.graph import Graph

    if not text.strip():
        raise BadInput("the text is empty", remedy="give some words to read")
    opened = Graph.open(graph)
    entities = [opened.resolve(name) for name in about] if about else None
    from kgraft.reason import FactMemory
    from kgraft.text import StaticEncoder

    memory = FactMemory(opened, StaticEncoder.load() if static else None)
    with progress_bar(quiet) as progress:
        facts = memory.recall(
            text, limit=limit, entities=entities, everywhere=everywhere, progress=progress
        )
    if as_json:
        print_json([fact.to_dict() for fact in facts])
    else:
        _print(facts)


def _print(facts: Sequence[RecalledFact]) -> None:
    from rich.table import Table

    if not facts:
        console().print("the graph has no facts")
        return
    table = Table("weight", "fact", box=None, header_style="dim")
    for fact in facts:
        table.add_row(f"{fact.weight:.3f}", escape(fact.words))
    console().print(table)
