"""`kgraft joint`: a graph and a language model that are trained together."""

from __future__ import annotations

import typer

from kgraft.cli.joint.evaluate import eval_
from kgraft.cli.joint.pretrain import pretrain

app = typer.Typer(
    no_args_is_help=True,
    help="""Pre-train a graph module and a language module that feed each other (JAKET).

    `kgraft ask train` makes one answer questions.

    Examples:

      kgraft joint pretrain world --out together

      kgraft joint pretrain my-graph --texts docs.jsonl --out together

      kgraft joint eval classes --model together --graph other-graph""",
)
app.command()(pretrain)
app.command("eval")(eval_)
