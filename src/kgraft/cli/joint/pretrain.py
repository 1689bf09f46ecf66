"""`kgraft joint pretrain`: graph and language together, from a graph and texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_encoder, need_room, need_texts
from kgraft.cli.output import (
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    epoch_line,
    print_trained,
)
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.joint.settings import JointConfig, PretrainSettings, Weights
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.corpus import AnnotatedTexts
    from kgraft.graph import Graph
    from kgraft.joint import JointModel
    from kgraft.progress import Progress
    from kgraft.training import Epoch

FIGURES = ("perplexity", "mentions")  # of an epoch that are printed
MAX_LENGTH = 128  # tokens of a text that are read at once


@settings_options(JointConfig, parameter="shape")
@settings_options(Weights, parameter="weights")
@settings_options(PretrainSettings)
def pretrain(
    graph: GraphName = "world",
    texts: Annotated[
        Path | None,
        typer.Option(
            help="JSON Lines with one text each, mentions annotated or not; by default the graph's "
            "own."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("joint"),
    encoder: Annotated[
        str | None, typer.Option(help="An encoder's folder or hub name, if not the default.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    shape: Changes,
    weights: Changes,
    changes: Changes,
) -> None:
    """Pre-train a joint model: the graph's entities inform the text, descriptions the graph.

    It learns four things at once: masked words, masked entities, the categories of entities, and
    the relations between them. Texts whose mentions are not annotated are linked first, by kgraft's
    own linker. A tenth of the texts is held out to choose the epoch by. Interrupted or killed, the
    same command resumes where it stopped; 'accelerate launch' spreads it over processes.

    Examples:

      kgraft joint pretrain world --out together

      kgraft joint pretrain my-graph --texts docs.jsonl --epochs 3 --out together
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_texts(texts)
    need_encoder(encoder)
    need_room(out, overwrite=overwrite)
    from kgraft.joint import pretrain as pretrain_model

    settings = PretrainSettings(weights=Weights().replace(**weights)).replace(**changes)
    config, seed = JointConfig().replace(**shape), settings.seed
    figures: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        data = _read_texts(texts, opened, out, seed, progress)
        train, valid = data.hold_out(seed=seed)
        model = _new_model(encoder, config, seed)
        if not quiet:
            counts = f"{len(train):,} texts with {len(train.mentions):,} mentions"
            print(f"{counts}, {len(valid):,} held out; seed {seed}", file=sys.stderr)
        for epoch in pretrain_model(
            model,
            opened,
            train,
            out,
            valid=valid,
            settings=settings,
            overwrite=overwrite,
            progress=progress,
        ):
            figures = _report(epoch, quiet=quiet)
    print_trained(out, figures, "measure it with  kgraft joint eval", as_json=as_json)


def _new_model(encoder: str | None, config: JointConfig, seed: int) -> JointModel:
    """Begin a model with an encoder's weights."""
    from kgraft.joint import JointModel
    from kgraft.text import Encoder

    return JointModel(Encoder.load(encoder, max_length=MAX_LENGTH), config, seed=seed)


def _read_texts(
    texts: Path | None, graph: Graph, out: Path, seed: int, progress: Progress
) -> AnnotatedTexts:
    """Read texts of a file, linked if they are not annotated, or say the graph in words."""
    from kgraft.corpus import verbalise_graph
    from kgraft.link import read_or_link

    if texts is None:
        return verbalise_graph(graph, seed=seed)
    return read_or_link(texts, graph, out, progress=progress)


def _report(epoch: Epoch, *, quiet: bool) -> dict[str, float]:
    """Print an epoch, and return its losses and figures."""
    if not quiet:
        print(epoch_line(epoch, epoch.losses, FIGURES), file=sys.stderr)
    return {"epoch": epoch.number, **epoch.losses, **epoch.figures}
