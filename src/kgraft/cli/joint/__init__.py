"""`kgraft joint`: a graph and a language model that are trained together."""

from __future__ import annotations

import typer

from kgraft.cli.joint.answer import answer
from kgraft.cli.joint.evaluate import eval_
from kgraft.cli.joint.pretrain import pretrain
from kgraft.cli.joint.train import train

app = typer.Typer(
    no_args_is_help=True,
    help="""Pre-train a graph module and a language module that feed each other (JAKET).

    Examples:

      kgraft joint pretrain world --out together

      kgraft joint pretrain my-graph --texts docs.jsonl --out together

      kgraft joint eval classes --model together --graph other-graph

      kgraft joint train --model together --graph movies --data QUESTIONS --out answerer

      kgraft joint answer "who directed Alien" --model answerer --graph movies""",
)
app.command()(pretrain)
app.command("eval")(eval_)
app.command()(train)
app.command()(answer)
