"""`kgraft reason`: what is missing in a graph, and why one should think so."""

from __future__ import annotations

import typer

from kgraft.cli.reason.apply import apply
from kgraft.cli.reason.mine import mine
from kgraft.cli.reason.rules import rules

app = typer.Typer(
    help="Complete a graph by rules, paths and facts, and say why.", no_args_is_help=True
)

app.command()(mine)
app.command()(rules)
app.command()(apply)
