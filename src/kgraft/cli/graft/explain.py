"""`kgraft graft explain`: what a grafted encoder looked up for a text, and what it moved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_graft
from kgraft.cli.output import MOST, AsJson, console, escape, print_json
from kgraft.progress import progress_bar
from kgraft.storage import new_file

if TYPE_CHECKING:
    from kgraft.graft.explain import Explanation

WORDS = 8  # of those moved most that are shown
ROOM = 40  # characters of a description in a table


def explain(
    model: Annotated[Path, typer.Argument(help="A folder of 'kgraft graft train'.")],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    html: Annotated[Path | None, typer.Option(help="Write it as a page to look at, too.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST, help="Candidates to show of a mention.")
    ] = 5,
    as_json: AsJson = False,
) -> None:
    """Show what was looked up for a text: mentions, candidates, what was mixed in, what it moved.

    Example:  kgraft graft explain grafted "The Danube flows through Vienna." --html look.html
    """
    need_graft(model)
    from kgraft.graft import GraftedEncoder
    from kgraft.graft.explain import explain as look
    from kgraft.graft.picture import picture

    with progress_bar() as progress:
        progress.start("opening the graft, and encoding entities seen for the first time")
        found = look(GraftedEncoder.from_pretrained(model), text, limit=limit)
    if html is not None:
        with new_file(html) as partial:
            partial.write_text(picture(found), encoding="utf-8")
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: Explanation) -> None:
    from rich.table import Table

    table = Table(
        "mention", "may mean", "", "prior", "score", "mixed in", box=None, header_style="dim"
    )
    for mention in found.mentions:
        name = escape(mention.text)
        for candidate in mention.candidates:
            said = escape(candidate.description[:ROOM])
            figures = (
                f"{candidate.prior:.2f}",
                f"{candidate.score:.2f}",
                f"{candidate.weight:.2f}",
            )
            table.add_row(name, escape(candidate.label), f"[dim]{said}[/]", *figures)
            name = ""
        if not any(candidate.weight for candidate in mention.candidates):
            table.add_row(name, "[dim]none of these[/]", "", "", "", "1.00")
    out = console()
    out.print(table if found.mentions else "Nothing of the graph is mentioned.")
    moved = sorted(found.words, key=lambda word: -word.moved)[:WORDS]
    out.print("moved most: " + ", ".join(f"{escape(w.text)} [dim]{w.moved:.1%}[/]" for w in moved))
