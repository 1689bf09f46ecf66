"""`kgraft graph split`: divide the triples into train, valid and test."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.graph.options import Out, Overwrite
from kgraft.cli.output import (
    AsJson,
    GraphName,
    Quiet,
    Seed,
    console,
    escape,
    print_json,
)
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.graph.resplit import RelationPair


def split(
    out: Out,
    graph: GraphName = "world",
    valid: Annotated[float, typer.Option(help="Fraction of the triples for validation.")] = 0.1,
    test: Annotated[float, typer.Option(help="Fraction of the triples for the test.")] = 0.1,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Divide the triples into train, valid and test without leakage.

    A triple stays together with its inverse or duplicate under relations that mirror one another,
    and every entity and relation of valid and test occurs in train.

    Example:  kgraft graph split world --valid 0.05 --test 0.05 --seed 1 --out world-split
    """
    from kgraft.graph import Graph, split_graph

    opened = Graph.open(graph)
    with progress_bar(quiet) as progress:
        made = split_graph(
            opened, out, valid=valid, test=test, seed=seed, overwrite=overwrite, progress=progress
        )
    if as_json:
        mirrored = [asdict(pair) for pair in made.mirrored]
        print_json({**asdict(made.graph.manifest), "mirrored": mirrored, "wanted": made.wanted})
        return
    splits = made.graph.manifest.splits
    counts = ", ".join(f"{name} {count:,}" for name, count in splits.items())
    console().print(f"[green]{escape(str(out))}[/]: {counts} (seed {seed})")
    _print_mirrored(opened, made.mirrored)
    if splits["train"] > made.wanted["train"]:
        more = splits["train"] - made.wanted["train"]
        console().print(f"  {more:,} more in train than asked for: entities would be missing there")


def _print_mirrored(graph: Graph, mirrored: list[RelationPair]) -> None:
    """Print the first pairs of relations whose triples were kept together."""
    relations = graph.all_relations
    for pair in mirrored[:10]:
        first, second = relations[pair.first].label, relations[pair.second].label
        kind = "mirror" if pair.inverse else "repeat"
        both = f"and {second} {kind} one another"
        relationship = "is symmetric" if pair.first == pair.second else both
        console().print(f"  kept together: {escape(f'{first} {relationship}')} in {pair.share:.0%}")
    if len(mirrored) > 10:
        console().print(f"  [dim]… {len(mirrored):,} such pairs of relations in all[/]")
