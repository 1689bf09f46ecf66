"""`kgraft graft explain`: what a grafted encoder looked up for a text, and what it changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_graft
from kgraft.cli.output import MOST, AsJson, console, escape, print_json
from kgraft.progress import progress_bar
from kgraft.storage import new_file

if TYPE_CHECKING:
    from kgraft.graft import Explanation

WORDS = 8  # that changed most are shown
DESCRIPTION = 40  # characters in a table


def explain(
    model: Annotated[Path, typer.Argument(help="A folder of 'kgraft graft train'.")],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    html: Annotated[Path | None, typer.Option(help="Write it as a page to look at, too.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST, help="Candidates to show of a mention, and paths.")
    ] = 5,
    as_json: AsJson = False,
) -> None:
    """Show what was looked up for a text: mentions, candidates, their weights, what they changed.

    Example:  kgraft graft explain grafted "The Danube flows through Vienna." --html look.html
    """
    need_graft(model)
    from kgraft.graft import GraftedEncoder, render_html
    from kgraft.graft import explain as explain_text

    with progress_bar() as progress:
        progress.start("opening the graft, and encoding entities seen for the first time")
        explanation = explain_text(GraftedEncoder.from_pretrained(model), text, limit=limit)
    if html is not None:
        with new_file(html) as partial:
            partial.write_text(render_html(explanation), encoding="utf-8")
    if as_json:
        print_json(explanation.to_dict())
    else:
        _print(explanation)


def _print(explanation: Explanation) -> None:
    from rich.table import Table

    table = Table(
        "mention", "may mean", "", "prior", "score", "mixed in", box=None, header_style="dim"
    )
    for mention in explanation.mentions:
        name = escape(mention.text)
        for candidate in mention.candidates:
            description = escape(candidate.description[:DESCRIPTION])
            figures = (
                f"{candidate.prior:.2f}",
                f"{candidate.score:.2f}",
                f"{candidate.weight:.2f}",
            )
            table.add_row(name, escape(candidate.label), f"[dim]{description}[/]", *figures)
            name = ""
        if not any(candidate.weight for candidate in mention.candidates):
            table.add_row(name, "[dim]none of these[/]", "", "", "", "1.00")
    out = console()
    out.print(table if explanation.mentions else "Nothing of the graph is mentioned.")
    for path in explanation.paths:
        out.print(f"related: {escape(path.words)} [dim]{path.weight:.2f}[/]")
    words = sorted(explanation.words, key=lambda word: -word.change)[:WORDS]
    changes = ", ".join(f"{escape(w.text)} [dim]{w.change:.1%}[/]" for w in words)
    out.print(f"changed most: {changes}")
