"""`kgraft graph info`: what a graph holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from kgraft.cli.output import (
    AsJson,
    GraphName,
    console,
    escape,
    print_json,
)

if TYPE_CHECKING:
    from kgraft.graph import Graph


def info(graph: GraphName = "world", as_json: AsJson = False) -> None:
    """Say what a graph holds.

    Examples:

      kgraft graph info world

      kgraft graph info company --json
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    if as_json:
        print_json(opened.manifest)
        return
    console().print(_info_table(opened))


def _info_table(graph: Graph) -> object:
    from rich.table import Table

    facts = asdict(graph.manifest)
    files = facts.pop("files")
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("[bold]folder[/]", escape(str(graph.folder)))
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count:,}" for name, count in value.items() if count)
        if isinstance(value, list):
            value = "; ".join(value)
        shown = f"{value:,}" if isinstance(value, int) else value
        if shown not in ("", "0"):
            table.add_row(f"[bold]{key.replace('_', ' ')}[/]", escape(shown))
    table.add_row("[bold]size[/]", f"{sum(f['bytes'] for f in files.values()) / 1e6:,.1f} MB")
    return table
