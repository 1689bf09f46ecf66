"""`kgraft link`: find the entities of a graph in texts, and train what finds them."""

from __future__ import annotations

import typer

from kgraft.cli.default_command import DefaultCommandGroup
from kgraft.cli.link.calibrate import calibrate
from kgraft.cli.link.evaluate import eval_
from kgraft.cli.link.export import export
from kgraft.cli.link.index import index
from kgraft.cli.link.text import text
from kgraft.cli.link.train import train

TEXT = "text"


class _TextFirst(DefaultCommandGroup):
    """A group that takes what is not one of its commands for a text."""

    default = TEXT


app = typer.Typer(
    cls=_TextFirst,
    no_args_is_help=True,
    help="""Find the entities of a graph in texts, and train what finds them.

    `kgraft link TEXT` is short for `kgraft link text TEXT`; see kgraft link text --help.

    Examples:

      kgraft link "She flew from Paris to Georgia."

      kgraft link --file docs.jsonl --out links.jsonl --graph my-graph

      kgraft link train my-graph --out my-linker""",
)
app.command(TEXT)(text)
app.command()(train)
app.command("eval")(eval_)
app.command()(index)
app.command()(calibrate)
app.command()(export)
