"""`kgraft link`: find the entities of a graph in texts, and train what finds them."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from kgraft.cli.link.calibrate import calibrate
from kgraft.cli.link.evaluate import eval_
from kgraft.cli.link.export import export
from kgraft.cli.link.index import index
from kgraft.cli.link.text import text
from kgraft.cli.link.train import train

TEXT = "text"


class _TextFirst(TyperGroup):
    """A group that takes what is not one of its commands for a text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put the command for texts first where none is named."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [TEXT, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


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
