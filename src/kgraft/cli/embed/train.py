"""`kgraft embed train`: vectors for a graph's entities and relations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.embed.vectors import figure_words
from kgraft.cli.given import (
    CORRUPTIONS,
    LOSSES,
    OPTIMISERS,
    PRESETS,
    REGULARISERS,
    SIMILARITIES,
    choose,
    need_room,
)
from kgraft.cli.output import (
    MOST,
    MOST_PASSES,
    AsJson,
    GraphName,
    Quiet,
    console,
    escape,
    finite,
    print_json,
)
from kgraft.progress import progress_bar
from kgraft.ranges import LARGEST_SEED

if TYPE_CHECKING:
    from kgraft.training import Epoch

MODELS = "transe, rotate, distmult or complex"


def train(
    graph: GraphName = "world",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder to write, if not GRAPH.MODEL."),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help=f"{MODELS}.")] = "complex",
    preset: Annotated[
        str | None,
        typer.Option(help="Settings tuned for one graph, such as complex-wn18rr; see docs."),
    ] = None,
    dimension: Annotated[
        int | None, typer.Option(min=1, max=1 << 16, help="Numbers in an entity's vector.")
    ] = None,
    similarity: Annotated[
        str | None, typer.Option(help="dot, l2, squared, l1 or modulus: what the model allows.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="softmax, sampled-softmax, self-adversarial or margin.")
    ] = None,
    negatives: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, help="Wrong answers a query, for the losses that draw them."),
    ] = None,
    corruption: Annotated[
        str | None, typer.Option(help="Ends asked for: both, or one: uniform or bernoulli.")
    ] = None,
    reciprocal: Annotated[
        bool | None, typer.Option(help="A vector of its own for each relation asked backwards.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(min=0, max=1e6, callback=finite, help="γ of margin and self-adversarial."),
    ] = None,
    optimiser: Annotated[str | None, typer.Option(help="adagrad or adam.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(min=0, max=1000, callback=finite, help="Size of a step.")
    ] = None,
    regulariser: Annotated[str | None, typer.Option(help="n3, l2 or dura.")] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0, max=1e6, callback=finite, help="Weight of the regulariser on entities."
        ),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Queries or triples an update.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, max=MOST_PASSES, help="Most passes over the graph.")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_PASSES, help="Validations without a better MRR before it stops."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random choices.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace vectors that are there.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train vectors for a graph's entities and relations.

    Each model has good settings of its own; options change single ones. Training stops when the
    MRR on validation triples no longer grows. Interrupted or killed, the same command goes on where
    it stopped. TensorBoard reads OUT.training/events while it runs.

    Examples:

      kgraft embed train world --model rotate --out world-rotate

      kgraft embed train my-graph --dimension 128 --epochs 50

      accelerate launch --multi_gpu --num_processes 2 -m kgraft embed train my-graph
    """
    from kgraft.graph import Graph

    choose("model or preset", preset or model, PRESETS)
    choose("similarity", similarity, SIMILARITIES)
    choose("loss", loss, LOSSES)
    choose("corruption", corruption, CORRUPTIONS)
    choose("optimiser", optimiser, OPTIMISERS)
    choose("regulariser", regulariser, REGULARISERS)
    opened = Graph.open(graph)
    name = (preset or model).partition("-")[0]
    out = out or Path(f"{opened.manifest.name or opened.folder.name}.{name}")
    need_room(out, overwrite=overwrite)
    from kgraft.embed import preset_settings, train_embedding
    from kgraft.training import Processes

    settings = preset_settings(preset or model, opened).changed(
        dimension=dimension,
        similarity=similarity,
        loss=loss,
        negatives=negatives,
        corruption=corruption,
        reciprocal=reciprocal,
        margin=margin,
        optimiser=optimiser,
        learning_rate=learning_rate,
        regulariser=regulariser,
        entity_weight=weight,
        batch=batch,
        epochs=epochs,
        patience=patience,
        seed=seed,
    )
    quiet = quiet or not Processes.here().main
    if not quiet:
        print(f"{settings.model}, seed {settings.seed}; {settings.in_words()}", file=sys.stderr)
    with progress_bar(quiet) as progress:
        for epoch in train_embedding(opened, settings, out, overwrite=overwrite, progress=progress):
            if not quiet:
                print(_epoch_line(epoch), file=sys.stderr)
    if Processes.here().main:
        _report_training(out, as_json=as_json)


def _epoch_line(epoch: Epoch) -> str:
    parts = [f"epoch {epoch.number}", f"loss {epoch.losses['loss']:.4f}"]
    if epoch.figures:
        parts.append(figure_words(epoch.figures))
    parts.append(f"{epoch.seconds / 60:.1f} min")
    return "  ".join(parts) + ("  (best)" if epoch.best else "")


def _report_training(out: Path, *, as_json: bool) -> None:
    from kgraft.vectors import read_vectors

    manifest = read_vectors(out).manifest
    if as_json:
        print_json(manifest)
        return
    facts = manifest.facts
    size = f"{manifest.entities:,} entities × {manifest.dimension}"
    console().print(f"[green]{escape(out)}[/]: {size}, {escape(facts['model'])}")
    if facts["held_out"]:
        console().print(f"  no valid split: {facts['held_out']:,} triples were held out for it")
    if facts["valid"]:
        console().print(f"  valid: {figure_words(facts['valid'])}")
        console().print(f"  [dim]{escape(facts['protocol'])}[/]")
