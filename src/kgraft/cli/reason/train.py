"""`kgraft reason train`: fine-tune the reasoner, or a model of texts, on one graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_reasoner, need_room
from kgraft.cli.output import (
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    epoch_line,
    print_trained,
)
from kgraft.cli.reason.sources import ReasonerOption
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.progress import progress_bar
from kgraft.reason.settings import ReasonerSettings


@settings_options(ReasonerSettings)
def train(
    graph: GraphName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    reasoner: ReasonerOption = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    changes: Changes,
) -> None:
    """Fine-tune the reasoner on a graph.

    The reasoner that ships works on any graph as it is; after some minutes on your own it knows
    your relations better. Validation triples choose the epoch; where there are none, some facts are
    held out. Interrupted or killed, the same command resumes where it stopped.

    Examples:

      kgraft reason train my-graph --out my-graph.reasoner

      kgraft reason predict my-graph --head Acme --relation supplies --reasoner my-graph.reasoner
    """
    from kgraft.graph import Graph

    need_room(out, overwrite=overwrite)
    need_reasoner(reasoner)
    opened = Graph.open(graph)
    settings = ReasonerSettings().replace(**changes)
    from kgraft.reason import Reasoner, train_reasoner

    start = Reasoner.load(reasoner)
    last: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        for epoch in train_reasoner(
            opened, settings, out, reasoner=start, overwrite=overwrite, progress=progress
        ):
            last = epoch.figures or last
            if not quiet:
                print(epoch_line(epoch, ["loss"], ["mrr"]), file=sys.stderr)
    hint = f"use it with --reasoner {out}"
    print_trained(out, last, hint, as_json=as_json)
