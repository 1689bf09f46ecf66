"""`kgraft reason rules`: mined rules in words, and rules of AnyBURL's text format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_new_file, need_rules
from kgraft.cli.output import MOST, AsJson, Seed, console, escape, print_json
from kgraft.errors import BadInput

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.reason import RuleSource, ShownRule

RulesPath = Annotated[
    Path, typer.Argument(help="A folder of mined rules, or a file of AnyBURL.", metavar="RULES")
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out lines of a file that cannot be read.")
]


def rules(
    rules: RulesPath,
    graph: Annotated[
        str | None,
        typer.Option("--graph", "-g", help="The graph, if not the built-in one of that name."),
    ] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", "-r", help="Only rules that conclude this.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Rules to show.")
    ] = 20,
    export: Annotated[
        Path | None, typer.Option(help="Write the rules to a file in AnyBURL's text format.")
    ] = None,
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """List rules in words, the most reliable first, each with an example from the graph.

    Examples:

      kgraft reason rules my-rules --graph my-graph --relation supplies

      kgraft reason rules my-rules --graph my-graph --export rules.txt
    """
    need_new_file(export)
    opened = open_graph(rules, graph)
    if relation is not None:
        opened.relation(relation)
    source = open_rules(rules, opened, skip_bad=skip_bad)
    from kgraft.reason import list_rules, write_anyburl

    rows = list_rules(source, relation=relation, limit=limit, seed=seed)
    if export is not None:
        write_anyburl(export, source.rules, source.graph)
        console().print(f"[green]{escape(export)}[/]: {len(source.rules):,} rules")
    elif as_json:
        print_json([row.to_dict() for row in rows])
    else:
        _print_rules(rows, len(source.rules))


def open_graph(path: Path, name: str | None) -> Graph:
    """Open the graph of rules: the one that is named, or of the name that a folder remembers."""
    from kgraft.graph import Graph

    config = need_rules(path)
    name = name or str(config.get("graph", ""))
    if not name:
        raise BadInput("no graph is given", remedy="add --graph GRAPH")
    return Graph.open(name)


def open_rules(path: Path, graph: Graph, *, skip_bad: bool = False) -> RuleSource:
    """Open a folder of rules, or a file in AnyBURL's format, for a graph."""
    from kgraft.graph import Refusals
    from kgraft.reason import Rules, RuleSource, read_anyburl

    if path.is_dir():
        return Rules.from_pretrained(path).on(graph)
    return RuleSource(graph, read_anyburl(path, graph, refusals=Refusals(skip=skip_bad)))


def _print_rules(rows: list[ShownRule], count: int) -> None:
    from rich.table import Table

    table = Table("confidence", "holds", "of", "rule", box=None, header_style="dim")
    for row in rows:
        words = escape(row.words) + (f"\n[dim]{escape(row.example)}[/]" if row.example else "")
        sample = "≈ " if row.sampled else ""
        counts = f"{sample}{row.support:,}", f"{sample}{row.body_count:,}"
        table.add_row(f"{row.confidence:.3f}", *counts, words)
    console().print(table)
    console().print(f"[dim]{len(rows):,} of {count:,} rules[/]")
