"""`kgraft link train`: a linker for your graph, from annotated texts or from the graph alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.output import (
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    Seed,
    console,
    epoch_line,
    print_json,
)
from kgraft.progress import progress_bar

FIGURES = ("weak_f1", "strong_f1")  # that are told of an epoch


def train(
    graph: GraphName = "world",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("linker"),
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Annotated texts, JSON Lines with text and mentions; without, the graph's own."
        ),
    ] = None,
    valid: Annotated[
        Path | None, typer.Option(help="Texts to choose by, if not a tenth of the others.")
    ] = None,
    count: Annotated[
        int, typer.Option(min=20, help="Texts to make from the graph where none are given.")
    ] = 4000,
    start: Annotated[
        str | None, typer.Option(help="A model to go on from, if not the built-in one.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin with the bare encoder.")] = False,
    encoder: Annotated[
        str | None, typer.Option(help="With --fresh: an encoder's folder or hub name.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Every mention in the texts is marked.")
    ] = False,
    epochs: Annotated[int | None, typer.Option(min=1, help="Most passes over the texts.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Size of a step.")] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a linker for a graph.

    Without annotated texts it learns from sentences made of the graph's facts and descriptions. It
    keeps the epoch and the threshold with the best F1 on validation texts. Interrupted or killed,
    the same command goes on where it stopped.

    Examples:

      kgraft link train my-graph --out my-linker

      kgraft link train my-graph --texts marked.jsonl --valid dev.jsonl --out my-linker
    """
    from kgraft.graph import Graph
    from kgraft.link import LinkSettings, graph_texts, read_annotated, split_texts, train_linker
    from kgraft.link.shipped import SHIPPED

    opened = Graph.open(graph)
    whole = read_annotated(texts, opened) if texts else graph_texts(opened, count, seed=seed)
    if valid is not None:
        learnt, chosen_by = whole, read_annotated(valid, opened)
    else:
        learnt, chosen_by = split_texts(whole, seed=seed)
    settings = LinkSettings(seed=seed, partial=not complete).changed(
        epochs=epochs, learning_rate=learning_rate
    )
    if not quiet:
        print(
            f"{len(learnt):,} texts, {len(chosen_by):,} to choose by; seed {seed}", file=sys.stderr
        )
    told: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        for epoch in train_linker(
            opened,
            learnt,
            out,
            valid=chosen_by,
            settings=settings,
            start=None if fresh else (start or SHIPPED),
            encoder=encoder,
            overwrite=overwrite,
            progress=progress,
        ):
            if not quiet:
                print(epoch_line(epoch, ["loss"], FIGURES), file=sys.stderr)
            told = {"epoch": epoch.number, **epoch.figures}
    if as_json:
        print_json({"out": str(out), **told})
    else:
        console().print(
            f"[green]{out}[/]: use it with  kgraft link TEXT --graph {graph} --model {out}"
        )
