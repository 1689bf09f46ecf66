"""`kgraft link train`: a linker for your graph, from annotated texts or from the graph alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_encoder, need_link_model, need_room
from kgraft.cli.output import (
    MOST,
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    console,
    epoch_line,
    escape,
    print_json,
)
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.errors import BadInput
from kgraft.link.settings import LinkSettings
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.link import Adaptation

FIGURES = ("weak_f1", "strong_f1")  # that are printed after an epoch


@settings_options(LinkSettings)
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
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    changes: Changes,
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
    _check_start(init_from, encoder, from_scratch=from_scratch)
    from kgraft.corpus import read_annotated
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_room(out, overwrite=overwrite)
    need_link_model(init_from)
    need_encoder(encoder)
    annotated = read_annotated(texts, opened) if texts else None
    held_out = read_annotated(valid, opened) if valid else None
    from kgraft.link import adapt_linker, load_model, new_model, read_adaptation

    settings = LinkSettings().replace(**changes)
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
    _show(graph, out, read_adaptation(out), as_json=as_json)


def _check_start(init_from: str | None, encoder: str | None, *, from_scratch: bool) -> None:
    """Refuse options about what training starts from that exclude each other."""
    if from_scratch and init_from is not None:
        raise BadInput("--init-from and --from-scratch exclude each other", remedy="give one")
    if encoder is not None and not from_scratch:
        raise BadInput("--encoder is for --from-scratch", remedy="give both, or leave it out")


def _show(graph: str, out: Path, outcome: Adaptation, *, as_json: bool) -> None:
    if as_json:
        print_json({"out": str(out), **outcome.to_dict()})
        return
    before, after = outcome.before["weak_f1"], outcome.after["weak_f1"]
    verdict = "kept" if outcome.improved else "not kept: the linker is written as it was"
    console().print(f"held-out weak F1 {before:.3f} before, {after:.3f} after: {verdict}")
    command = escape(f"kgraft link TEXT --graph {graph} --model {out}")
    console().print(f"[green]{escape(out)}[/]: use it with  {command}")
