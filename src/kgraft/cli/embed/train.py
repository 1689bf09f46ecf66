"""`kgraft embed train`: vectors for a graph's entities and relations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.embed.vectors import figures_line
from kgraft.cli.given import need_room
from kgraft.cli.output import AsJson, GraphName, Overwrite, Quiet, console, escape, print_json
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.embed.settings import EmbedSettings
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.training import Epoch


@settings_options(EmbedSettings, show_defaults=False)
def train(
    graph: GraphName = "world",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder to write, if not GRAPH.MODEL."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="transe, rotate, distmult, complex or pairre.")
    ] = "complex",
    preset: Annotated[
        str | None,
        typer.Option(help="Settings tuned for one graph, such as complex-wn18rr; see docs."),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    changes: Changes,
) -> None:
    """Train vectors for a graph's entities and relations.

    Each model has good settings of its own; options change single ones. Training stops when the
    MRR on validation triples no longer grows. Interrupted or killed, the same command resumes where
    it stopped. TensorBoard reads OUT.training/events while it runs.

    Examples:

      kgraft embed train world --model rotate --out world-rotate

      kgraft embed train my-graph --dimension 128 --epochs 50

      accelerate launch --multi_gpu --num_processes 2 -m kgraft embed train my-graph
    """
    from kgraft.embed.presets import check_preset
    from kgraft.graph import Graph

    check_preset(preset or model)
    opened = Graph.open(graph)
    name = (preset or model).partition("-")[0]
    out = out or Path(f"{opened.manifest.name or opened.folder.name}.{name}")
    need_room(out, overwrite=overwrite)
    from kgraft.embed import preset_settings, train_embedding
    from kgraft.training import Processes

    settings = preset_settings(preset or model, opened).replace(**changes)
    quiet = quiet or not Processes.here().main
    if not quiet:
        print(f"{settings.model}, seed {settings.seed}; {settings.summary()}", file=sys.stderr)
    with progress_bar(quiet) as progress:
        for epoch in train_embedding(opened, settings, out, overwrite=overwrite, progress=progress):
            if not quiet:
                print(_epoch_line(epoch), file=sys.stderr)
    if Processes.here().main:
        _report_training(out, as_json=as_json)


def _epoch_line(epoch: Epoch) -> str:
    parts = [f"epoch {epoch.number}", f"loss {epoch.losses['loss']:.4f}"]
    if epoch.figures:
        parts.append(figures_line(epoch.figures))
    parts.append(f"{epoch.seconds / 60:.1f} min")
    return "  ".join(parts) + ("  (best)" if epoch.best else "")


def _report_training(out: Path, *, as_json: bool) -> None:
    from kgraft.vectors import read_vectors

    vectors = read_vectors(out)
    if as_json:
        print_json({**vectors.config.to_dict(), "facts": vectors.facts})
        return
    facts, config = vectors.facts, vectors.config
    size = f"{config.entities:,} entities × {config.dimension}"
    console().print(f"[green]{escape(out)}[/]: {size}, {escape(facts['model'])}")
    if facts["held_out"]:
        console().print(f"  no valid split: {facts['held_out']:,} triples were held out for it")
    if facts["valid"]:
        console().print(f"  valid: {figures_line(facts['valid'])}")
        console().print(f"  [dim]{escape(facts['protocol'])}[/]")
