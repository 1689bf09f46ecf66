"""`kgraft graph diff`: what differs between two versions of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.output import (
    MOST,
    AsJson,
    console,
    escape,
    print_json,
)

if TYPE_CHECKING:
    from kgraft.graph import GraphDiff


def diff(
    old: Annotated[str, typer.Argument(help="The graph before.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="The graph after.", metavar="NEW")],
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", min=0, max=MOST, help="How many items of each kind to show."),
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare two versions of a graph: what was added, removed and changed.

    Example:  kgraft graph diff world world-2 --limit 5
    """
    from kgraft.graph import Graph, diff_graphs

    differences = diff_graphs(Graph.open(old), Graph.open(new))
    if as_json:
        print_json(differences.to_dict(limit))
        return
    if differences.is_empty:
        console().print("no difference")
    else:
        _print_diff(differences, limit)


def _print_diff(differences: GraphDiff, limit: int) -> None:
    from rich.table import Table

    table = Table("", "added", "removed", "changed", box=None)
    for part, counts in differences.counts().items():
        table.add_row(part, *(f"{count:,}" for count in counts.values()))
    console().print(table)
    shown = differences.to_dict(limit)
    for part, counts in differences.counts().items():
        for kind, sign, colour in (
            ("added", "+", "green"),
            ("removed", "-", "red"),
            ("changed", "~", "yellow"),
        ):
            for item in shown[part][kind]:
                console().print(f"[{colour}]{sign}[/] {escape(_item_words(item))}")
            if counts[kind] > limit > 0:
                console().print(f"[dim]  … {counts[kind]:,} {part} {kind} in all[/]")


def _item_words(item: dict[str, Any]) -> str:
    if "head" in item:
        split = item["split"]
        moved = f": {split['old']} → {split['new']}" if isinstance(split, dict) else ""
        return f"{item['head']}  {item['relation']}  {item['tail']}{moved}"
    if "property" in item:
        value = item["value"]
        if isinstance(value, dict):
            value = f"{_shown(value['old'])} → {_shown(value['new'])}"
        return f"{item.get('entity', item.get('relation'))}  {item['property_label']}: {value}"
    words = f"{item['id']}  {item['label']}"
    changes = (
        f"{name}: {_shown(values['old'])} → {_shown(values['new'])}"
        for name, values in item.get("columns", {}).items()
    )
    return "; ".join([words, *changes])


def _shown(value: object) -> str:
    """Return a value of a column in at most sixty letters."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "—")
    return text if len(text) <= 60 else f"{text[:59]}…"
