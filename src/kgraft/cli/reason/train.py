"""`kgraft reason train`: fine-tune the reasoner, or a model of texts, on one graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_encoder, need_reasoner, need_room
from kgraft.cli.output import (
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    epoch_line,
    print_trained,
)
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.errors import BadInput
from kgraft.progress import Progress, progress_bar
from kgraft.reason.settings import ReasonerSettings
from kgraft.reason.text.settings import TextSettings
from kgraft.settings import Settings, field_types

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.training import Epoch


OF_BOTH = [name for name in field_types(TextSettings) if name in field_types(ReasonerSettings)]


@settings_options(TextSettings, leave_out=OF_BOTH, parameter="text_changes", show_defaults=False)
@settings_options(ReasonerSettings, show_defaults=False)
def train(
    graph: GraphName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    text: Annotated[
        bool, typer.Option("--text", help="Train a model of texts instead of the reasoner.")
    ] = False,
    reasoner: Annotated[
        Path | None, typer.Option(help="The reasoner to begin with; else the one that ships.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="The encoder that --text begins with: a folder or a name.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    changes: Changes,
    text_changes: Changes,
) -> None:
    """Fine-tune the reasoner on a graph; with --text, a model that reads labels and descriptions.

    The reasoner that ships works on any graph as it is; after some minutes on your own it knows
    your relations better. A model of texts helps where entities are described. Validation triples
    choose the epoch; where there are none, some facts are held out. Interrupted or killed, the same
    command resumes where it stopped.

    Examples:

      kgraft reason train my-graph --out my-graph.reasoner

      kgraft reason train my-graph --text --out my-graph.text

      kgraft reason predict my-graph --head Acme --relation supplies --reasoner my-graph.reasoner
    """
    from kgraft.graph import Graph

    need_room(out, overwrite=overwrite)
    need_reasoner(reasoner)
    if text:
        need_encoder(encoder)
        settings: Settings = TextSettings().replace(**_fitting(changes, TextSettings, "--text"))
        settings = settings.replace(**text_changes)
    else:
        _fitting(text_changes, ReasonerSettings, "the reasoner")
        settings = ReasonerSettings().replace(**changes)
    opened = Graph.open(graph)
    last: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        for epoch in _epochs(
            opened, settings, out, reasoner, encoder, overwrite=overwrite, progress=progress
        ):
            last = epoch.figures or last
            if not quiet:
                print(epoch_line(epoch, ["loss"], ["mrr"]), file=sys.stderr)
    hint = f"use it with --{'text' if text else 'reasoner'} {out}"
    print_trained(out, last, hint, as_json=as_json)


def _fitting(changes: Changes, settings: type[Settings], what: str) -> Changes:
    """Refuse settings that what is trained does not have."""
    for name in changes:
        if name not in field_types(settings):  # type: ignore[arg-type]
            option = name.replace("_", "-")
            raise BadInput(f"--{option} is not a setting of {what}", remedy="leave it out")
    return changes


def _epochs(
    graph: Graph,
    settings: Settings,
    out: Path,
    reasoner: Path | None,
    encoder: str | None,
    *,
    overwrite: bool,
    progress: Progress,
) -> Iterator[Epoch]:
    """Train what the settings are for."""
    from kgraft.reason import Reasoner, train_reasoner, train_text_completer

    if isinstance(settings, TextSettings):
        return train_text_completer(
            graph, out, encoder=encoder, settings=settings, overwrite=overwrite, progress=progress
        )
    assert isinstance(settings, ReasonerSettings)
    start = Reasoner.load(reasoner)
    return train_reasoner(
        graph, settings, out, reasoner=start, overwrite=overwrite, progress=progress
    )
