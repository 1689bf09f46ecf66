"""`kgraft link train`: a linker for your graph, from annotated texts or from the graph alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_encoder, need_link_model, need_room
from kgraft.cli.output import (
    MOST,
    MOST_PASSES,
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    Seed,
    console,
    epoch_line,
    escape,
    finite,
    print_json,
)
from kgraft.errors import BadInput
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
        int,
        typer.Option(min=20, max=MOST, help="Texts to make from the graph where none are given."),
    ] = 4000,
    init_from: Annotated[
        str | None, typer.Option(help="A model to start from, if not the built-in one.")
    ] = None,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Start from the bare encoder.")
    ] = False,
    encoder: Annotated[
        str | None, typer.Option(help="With --from-scratch: an encoder's folder or hub name.")
    ] = None,
    fully_annotated: Annotated[
        bool, typer.Option("--fully-annotated", help="Every mention in the texts is marked.")
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(min=1, max=MOST_PASSES, help="Most passes over the texts.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(min=0, max=1, callback=finite, help="Size of a step.")
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a linker for a graph.

    Without annotated texts it learns from sentences made of the graph's facts and descriptions. It
    keeps the state and the threshold with the best F1 on held-out texts, and shows that F1 before
    and after; where training does not help, the linker is written as it was. Interrupted or killed,
    the same command resumes.

    Examples:

      kgraft link train my-graph --out my-linker

      kgraft link train my-graph --texts marked.jsonl --valid dev.jsonl --out my-linker
    """
    if from_scratch and init_from is not None:
        raise BadInput("--init-from and --from-scratch exclude each other", remedy="give one")
    if encoder is not None and not from_scratch:
        raise BadInput("--encoder is for --from-scratch", remedy="give both, or leave it out")
    from kgraft.graph import Graph
    from kgraft.graph.annotated import read_annotated

    opened = Graph.open(graph)
    need_room(out, overwrite=overwrite)
    need_link_model(init_from)
    need_encoder(encoder)
    annotated = read_annotated(texts, opened) if texts else None
    held_out = read_annotated(valid, opened) if valid else None
    from kgraft.link import LinkSettings, adapt_linker, read_adaptation
    from kgraft.link.shipped import load_model
    from kgraft.link.train import new_model

    settings = LinkSettings(seed=seed, fully_annotated=fully_annotated).replace(
        epochs=epochs, learning_rate=learning_rate
    )
    model = new_model(encoder, settings) if from_scratch else load_model(init_from)
    with progress_bar(quiet) as progress:
        for epoch in adapt_linker(
            opened,
            model,
            out,
            texts=annotated,
            valid=held_out,
            count=count,
            settings=settings,
            overwrite=overwrite,
            progress=progress,
        ):
            if not quiet:
                print(epoch_line(epoch, ["loss"], FIGURES), file=sys.stderr)
    outcome = read_adaptation(out)
    if as_json:
        print_json({"out": str(out), **outcome.to_dict()})
        return
    before, after = outcome.before["weak_f1"], outcome.after["weak_f1"]
    verdict = "kept" if outcome.improved else "not kept: the linker is written as it was"
    console().print(f"held-out weak F1 {before:.3f} before, {after:.3f} after: {verdict}")
    command = escape(f"kgraft link TEXT --graph {graph} --model {out}")
    console().print(f"[green]{escape(out)}[/]: use it with  {command}")
