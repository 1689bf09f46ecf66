"""`kgraft reason`: what is missing in a graph, and why one should think so."""

from __future__ import annotations

import typer

from kgraft.cli.reason.apply import apply
from kgraft.cli.reason.complete import complete
from kgraft.cli.reason.evaluate import combine, eval_
from kgraft.cli.reason.mine import mine
from kgraft.cli.reason.predict import explain, predict
from kgraft.cli.reason.recall import recall
from kgraft.cli.reason.rules import rules
from kgraft.cli.reason.train import train

app = typer.Typer(
    help="Complete a graph by rules, paths and facts, and say why.", no_args_is_help=True
)
for command in (predict, explain, complete, mine, rules, apply, recall, combine, train):
    app.command()(command)
app.command("eval")(eval_)
