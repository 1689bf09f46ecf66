"""`kgraft reason eval` and `combine`: how well sources complete a graph, alone and together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import choose, need_room
from kgraft.cli.output import (
    AsJson,
    GraphName,
    Overwrite,
    Quiet,
    Seed,
    console,
    escape,
    print_json,
)
from kgraft.cli.reason.sources import CompleterOption, check_sources, open_sources
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.progress import progress_bar
from kgraft.reason.settings import CompleterConfig

FIGURES = {"mrr": "MRR", "hits1": "Hits@1", "hits3": "Hits@3", "hits10": "Hits@10"}


@settings_options(CompleterConfig, parameter="sources")
def eval_(
    graph: GraphName,
    split: Annotated[str, typer.Option(help="The triples to rank: train, valid or test.")] = "test",
    completer: CompleterOption = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    sources: Changes,
) -> None:
    """Rank the true answers of held-out triples among all entities: MRR and Hits.

    Examples:

      kgraft reason eval my-graph --split valid

      kgraft reason eval fb15k237 --completer fb15k237.completer
    """
    choose("split", split, ("train", "valid", "test"))
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    config = check_sources(sources, completer)
    made = open_sources(opened, config, completer)
    with progress_bar(quiet) as progress:
        ranking = made.rank(split, progress=progress)
    if as_json:
        print_json({"split": split, **ranking.to_dict()})
        return
    figures = ranking.figures()
    words = "  ".join(f"{word} {figures[name]:.4f}" for name, word in FIGURES.items())
    names = ", ".join(source.name for source in made.sources)
    console().print(f"{words}  ({figures['count']:,} answers of {split}, by {escape(names)})")
    console().print(f"[dim]{escape(ranking.protocol)}[/]")


@settings_options(CompleterConfig, parameter="sources")
def combine(
    graph: GraphName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    sources: Changes,
) -> None:
    """Weigh sources against each other, for each relation, on the graph's validation triples.

    What is written names the sources by their folders, and holds their weights and a calibration.

    Example:

      kgraft reason combine fb15k237 --rules fb.rules --vectors fb.complex --out fb.completer
    """
    from kgraft.graph import Graph

    need_room(out, overwrite=overwrite)
    opened = Graph.open(graph)
    config = check_sources(sources)
    made = open_sources(opened, config)
    with progress_bar(quiet) as progress:
        made.fit(seed=seed, progress=progress)
    made.write(out, overwrite=overwrite)
    weights = made.weights.to_dict()
    if as_json:
        print_json({"out": str(out), **weights, "calibration": made.calibration})
        return
    console().print(f"[green]{escape(out)}[/]: use it with --completer {escape(out)}")
    for index, name in enumerate(weights["sources"]):
        log_p, log_rank = weights["common"][2 * index : 2 * index + 2]
        console().print(f"  {escape(name)}: {log_p:.2f} by score, {log_rank:.2f} by rank")
