"""`kgraft graph`: import, look at, search, query, change, check and export graphs."""

from __future__ import annotations

import typer

from kgraft.cli.graph.add import add
from kgraft.cli.graph.check import check
from kgraft.cli.graph.diff import diff
from kgraft.cli.graph.example import example
from kgraft.cli.graph.export import export
from kgraft.cli.graph.importing import import_
from kgraft.cli.graph.info import info
from kgraft.cli.graph.merge import merge
from kgraft.cli.graph.migrate import migrate
from kgraft.cli.graph.query import query
from kgraft.cli.graph.remove import remove
from kgraft.cli.graph.search import search
from kgraft.cli.graph.show import show
from kgraft.cli.graph.split import split
from kgraft.cli.graph.stats import stats

app = typer.Typer(
    help="Import, look at, search, query, change, check and export graphs.", no_args_is_help=True
)
app.command("import")(import_)
app.command()(info)
app.command()(show)
app.command()(search)
app.command()(query)
app.command()(stats)
app.command()(add)
app.command()(remove)
app.command()(merge)
app.command()(diff)
app.command()(split)
app.command()(check)
app.command()(export)
app.command()(migrate)
app.command()(example)
