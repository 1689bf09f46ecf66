"""`kgraft reason complete`: all that is missing of some relations, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_new_file
from kgraft.cli.output import AsJson, GraphName, Quiet, console, escape, finite, print_json
from kgraft.cli.reason.sources import CompleterOption, check_sources, open_sources
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.progress import progress_bar
from kgraft.reason.settings import CompleterConfig


@settings_options(CompleterConfig, parameter="sources")
def complete(
    graph: GraphName,
    relation: Annotated[
        list[str], typer.Option("--relation", "-r", help="Id or label; give it several times.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The Parquet file to write.")],
    min_probability: Annotated[
        float,
        typer.Option(min=0, max=1, help="Probability that a fact needs.", callback=finite),
    ] = 0.9,
    reasons: Annotated[bool, typer.Option(help="Give a reason for each fact.")] = True,
    completer: CompleterOption = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    sources: Changes,
) -> None:
    """Predict the tails that all entities lack, and write those that are likely enough.

    Each row has head, relation, tail, probability and a reason. Interrupted, the same command
    resumes: finished parts are in OUT.parts.

    Example:

      kgraft reason complete world -r borders -r "located in" --out new.parquet
      --min-probability 0.5
    """
    from kgraft.graph import Graph

    need_new_file(out)
    opened = Graph.open(graph)
    wanted = [opened.relation(name).index for name in relation]
    config = check_sources(sources, completer)
    made = open_sources(opened, config, completer)
    from kgraft.reason import complete_graph

    with progress_bar(quiet) as progress:
        count = complete_graph(
            made,
            wanted,
            out,
            min_probability=min_probability,
            with_reasons=reasons,
            progress=progress,
        )
    if as_json:
        print_json({"out": str(out), "facts": count})
    else:
        console().print(f"[green]{escape(out)}[/]: {count:,} facts")
