"""`kgraft joint pretrain`: graph and language together, from a graph and texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_encoder, need_room, need_texts
from kgraft.cli.joint.texts import read_texts
from kgraft.cli.output import (
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
from kgraft.progress import progress_bar

FIGURES = ("perplexity", "mentions")  # that are told of an epoch


def pretrain(
    graph: GraphName = "world",
    texts: Annotated[
        Path | None,
        typer.Option(
            help="JSON Lines with a text each, mentions marked or not; else the graph's own."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("joint"),
    encoder: Annotated[
        str | None, typer.Option(help="An encoder's folder or hub name, if not the default.")
    ] = None,
    cut: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, help="The last layer that reads without the graph; half by default."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, max=MOST_PASSES, help="Passes over the texts.")
    ] = None,
    words: Annotated[
        float, typer.Option(min=0, max=1e6, callback=finite, help="Weight of masked words.")
    ] = 1.0,
    mentions: Annotated[
        float, typer.Option(min=0, max=1e6, callback=finite, help="Weight of masked entities.")
    ] = 1.0,
    categories: Annotated[
        float, typer.Option(min=0, max=1e6, callback=finite, help="Weight of entity categories.")
    ] = 1.0,
    relations: Annotated[
        float, typer.Option(min=0, max=1e6, callback=finite, help="Weight of relations.")
    ] = 1.0,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Pre-train a joint model: the graph's entities inform the text, descriptions the graph.

    It learns four things at once: masked words, masked entities, the categories of entities, and
    the relations between them. Texts whose mentions are not marked are linked first, by kgraft's
    own linker. A tenth of the texts is set apart to choose the epoch by. Interrupted or killed, the
    same command goes on where it stopped; 'accelerate launch' spreads it over processes.

    Examples:

      kgraft joint pretrain world --out together

      kgraft joint pretrain my-graph --texts docs.jsonl --epochs 3 --out together
    """
    from kgraft.graph import Graph
    from kgraft.graph.annotated import split_texts

    opened = Graph.open(graph)
    need_texts(texts)
    need_encoder(encoder)
    need_room(out, overwrite=overwrite)
    from kgraft.joint import JointConfig, JointModel, PretrainSettings, Weights
    from kgraft.joint import pretrain as train
    from kgraft.text import Encoder

    weights = Weights(words, mentions, categories, relations)
    settings = PretrainSettings(weights=weights, seed=seed).changed(epochs=epochs)
    told: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        data = read_texts(texts, opened, out, seed, progress=progress)
        learnt, chosen_by = split_texts(data, seed=seed)
        model = JointModel(Encoder.load(encoder, max_length=128), JointConfig(cut=cut), seed=seed)
        if not quiet:
            said = f"{len(learnt):,} texts with {len(learnt.entity):,} mentions"
            print(f"{said}, {len(chosen_by):,} to choose by; seed {seed}", file=sys.stderr)
        for epoch in train(
            model,
            opened,
            learnt,
            out,
            valid=chosen_by,
            settings=settings,
            overwrite=overwrite,
            progress=progress,
        ):
            if not quiet:
                print(epoch_line(epoch, epoch.losses, FIGURES), file=sys.stderr)
            told = {"epoch": epoch.number, **epoch.losses, **epoch.figures}
    if as_json:
        print_json({"out": str(out), **told})
    else:
        console().print(f"[green]{escape(out)}[/]: measure it with  kgraft joint eval")
