"""`kgraft graph merge`: several graphs as one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kgraft.cli.graph.options import Out, Overwrite
from kgraft.cli.graph.report import report_change
from kgraft.cli.output import (
    AsJson,
    Quiet,
)
from kgraft.progress import progress_bar


class Match(StrEnum):
    """What makes entities of several graphs one."""

    IDS = "ids"
    LABELS = "labels"


def merge(
    graphs: Annotated[
        list[str], typer.Argument(help="Two or more graphs.", metavar="GRAPH GRAPH...")
    ],
    out: Out,
    match: Annotated[
        Match, typer.Option(help="ids, or labels: also join entities of one exact label.")
    ] = Match.IDS,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Merge graphs into one: entities and relations of the same id are one.

    What two graphs say differently is taken from the first; aliases and types are united.

    Examples:

      kgraft graph merge world world-2 --out world-5

      kgraft graph merge company world --match labels --out both
    """
    from kgraft.graph import Graph, merge_graphs

    opened = [Graph.open(name) for name in graphs]
    by_label = match == Match.LABELS
    with progress_bar(quiet) as progress:
        merged = merge_graphs(
            opened, out, match_labels=by_label, overwrite=overwrite, progress=progress
        )
    extra = {"same_id": merged.same_id}
    notes = [f"joined by id: {merged.same_id:,} entities"]
    if by_label:
        extra |= {"same_label": merged.same_label, "ambiguous_labels": merged.ambiguous_labels}
        notes.append(f"joined by label: {merged.same_label:,} entities")
        if merged.ambiguous_labels:
            notes.append(f"left apart: {merged.ambiguous_labels:,} labels that several share")
    report_change(merged.graph, opened, extra, notes, as_json)
