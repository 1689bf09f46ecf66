"""`kgraft graph show`: an entity's card, or the paths between two entities."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.output import (
    MOST,
    AsJson,
    GraphOption,
    console,
    escape,
    print_json,
)

if TYPE_CHECKING:
    from kgraft.graph import Card, Entity, Graph, GraphPath


def show(
    entity: Annotated[str, typer.Argument(help="Id or name of an entity.")],
    graph: GraphOption = "world",
    facts: Annotated[
        int, typer.Option(min=0, max=MOST, help="How many facts or paths to show.")
    ] = 20,
    to: Annotated[str | None, typer.Option(help="Show the paths to this entity instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a graph knows about an entity, or how two are connected.

    Examples:

      kgraft graph show Paris

      kgraft graph show Kenya --to Brazil
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    shown = opened.resolve(entity)
    if to is not None:
        _show_paths(_paths(opened, shown, opened.resolve(to), facts), as_json)
        return
    card = opened.card(shown, limit=facts)
    others = [other for other in opened.find(entity) if other != shown]
    if as_json:
        ids = [other.id for other in others]
        print_json({**asdict(card), "sentences": card.sentences(), "others": ids})
        return
    _print_card(card)
    if others:
        named = ", ".join(f"{other.label} ({other.id})" for other in others[:5])
        console().print(f"  [dim]also named so: {escape(named)}[/]")


def _paths(graph: Graph, start: Entity, end: Entity, limit: int) -> list[GraphPath]:
    """Return paths, those once that only differ in the direction of a triple that has a mirror."""
    paths = graph.paths(start, end, limit=limit * 8)
    distinct = {(path.entities, path.relations): path for path in reversed(paths)}
    return list(distinct.values())[::-1][:limit]


def _print_card(card: Card) -> None:
    """Print an entity's card."""
    entity, out = card.entity, console()
    types = f"  [dim]{escape(', '.join(entity.types))}[/]" if entity.types else ""
    out.print(f"[bold]{escape(entity.label)}[/]  [cyan]{escape(entity.short_id)}[/]{types}")
    if entity.description:
        out.print(f"  {escape(entity.description)}")
    if entity.aliases:
        more = f" … ({len(entity.aliases)})" if len(entity.aliases) > 8 else ""
        out.print(f"  [dim]also: {escape(', '.join(entity.aliases[:8]))}{more}[/]")
    for sentence in card.sentences():
        out.print(f"  • {escape(sentence)}")
    for literal in card.literals:
        out.print(f"  [dim]{escape(literal.words())}[/]")
    if card.facts > len(card.neighbours):
        out.print(f"  [dim]… {card.facts:,} facts in all[/]")


def _show_paths(paths: list[GraphPath], as_json: bool) -> None:
    if as_json:
        print_json([_path_json(path) for path in paths])
    else:
        for line in [path.verbalise() for path in paths] or ["no path of up to three triples"]:
            console().print(escape(line))
    if not paths:
        raise typer.Exit(1)


def _path_json(path: GraphPath) -> dict[str, object]:
    return {
        "entities": [entity.id for entity in path.entities],
        "relations": [relation.id for relation in path.relations],
        "forward": list(path.forward),
        "words": path.verbalise(),
    }
