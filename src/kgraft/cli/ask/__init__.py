"""`kgraft ask`: answers to questions over a graph, and the training of what answers them."""

from __future__ import annotations

import typer

from kgraft.cli.ask.evaluate import eval_
from kgraft.cli.ask.question import question
from kgraft.cli.ask.train import train
from kgraft.cli.default_command import DefaultCommandGroup

QUESTION = "question"


class _QuestionFirst(DefaultCommandGroup):
    """A group that takes what is not one of its commands for a question."""

    default = QUESTION


app = typer.Typer(
    cls=_QuestionFirst,
    no_args_is_help=True,
    help="""Answer questions over a graph, and train what answers them.

    `kgraft ask QUESTION` is short for `kgraft ask question QUESTION`; see kgraft ask question
    --help.

    Examples:

      kgraft ask train --model together --graph movies --data QUESTIONS --out answerer

      kgraft ask "who directed Alien" --model answerer --graph movies

      kgraft ask eval --model together --graph movies --data QUESTIONS""",
)
app.command(QUESTION)(question)
app.command()(train)
app.command("eval")(eval_)
