"""`kgraft reason apply`: the conclusions of rules, as a file of facts with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_new_file, need_suffix
from kgraft.cli.output import GraphName, Quiet, console, escape, finite
from kgraft.cli.reason.rules import RulesPath, SkipBad, open_graph, open_rules
from kgraft.progress import progress_bar

FORMATS = (".tsv", ".jsonl", ".parquet")


def apply(
    graph: GraphName,
    rules: RulesPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="A .tsv, .jsonl or .parquet file.")],
    min_confidence: Annotated[
        float,
        typer.Option(min=0, max=1, help="Confidence of a rule, at least.", callback=finite),
    ] = 0.8,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
) -> None:
    """Write what rules conclude from a graph, and the graph does not say yet.

    Each new fact comes with its best rule and the facts that it rests on.

    Example:  kgraft reason apply my-graph my-rules --out new.jsonl --min-confidence 0.9
    """
    need_suffix(out, None, FORMATS)
    need_new_file(out)
    source = open_rules(rules, open_graph(rules, graph), skip_bad=skip_bad)
    from kgraft.reason import apply_rules

    with progress_bar(quiet) as progress:
        count = apply_rules(source.graph, source.rules, out, min_confidence, progress)
    console().print(f"[green]{escape(out)}[/]: {count:,} new facts")
