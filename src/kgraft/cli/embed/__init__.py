"""`kgraft embed`: learn vectors from a graph's triples, measure them, and use them."""

from __future__ import annotations

import typer

from kgraft.cli.embed.evaluate import eval_
from kgraft.cli.embed.predict import predict, similar
from kgraft.cli.embed.show import export, plot
from kgraft.cli.embed.train import train

app = typer.Typer(
    help="Learn vectors from a graph's triples, measure them, and use them.", no_args_is_help=True
)
app.command()(train)
app.command("eval")(eval_)
for command in (predict, similar, export, plot):
    app.command()(command)
