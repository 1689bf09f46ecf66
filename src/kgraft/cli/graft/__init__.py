"""`kgraft graft`: plug a graph's knowledge into an encoder, and see what it adds."""

from __future__ import annotations

import typer

from kgraft.cli.graft.evaluate import eval_
from kgraft.cli.graft.explain import explain
from kgraft.cli.graft.train import train

app = typer.Typer(
    no_args_is_help=True,
    help="""Plug a graph's knowledge into an encoder between two of its layers.

    Examples:

      kgraft graft train world --texts docs.jsonl --out grafted

      kgraft graft explain grafted "The Danube flows through Vienna." --html look.html

      kgraft graft eval wic --model grafted --data DATA""",
)
app.command()(train)
app.command("eval")(eval_)
app.command()(explain)
