"""`kgraft reason mine`: rules from the facts of a graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_room
from kgraft.cli.output import AsJson, GraphName, Overwrite, Quiet, console, escape, print_json
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.progress import progress_bar
from kgraft.reason.rules.settings import MiningSettings

if TYPE_CHECKING:
    from kgraft.reason import Rules


@settings_options(MiningSettings)
def mine(
    graph: GraphName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    changes: Changes,
) -> None:
    """Mine rules from the facts of a graph, as many as the time allows.

    Only the train split is seen. Rules with constants and paths of one or two facts are all
    counted; longer paths are drawn at random until the minutes are over. Where there is a valid
    split, it decides for each relation how rules are added up.

    Examples:

      kgraft reason mine my-graph --out my-rules --minutes 10

      kgraft reason mine my-graph --out my-rules --rounds 20 --seed 7
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_room(out, overwrite=overwrite)
    from kgraft.reason import mine_and_save

    settings = MiningSettings(**changes)
    if not quiet:
        print(f"seed {settings.seed}", file=sys.stderr)
    with progress_bar(quiet) as progress:
        rules = mine_and_save(opened, out, settings, overwrite=overwrite, progress=progress)
    _report(out, rules, as_json=as_json)


def _report(out: Path, rules: Rules, *, as_json: bool) -> None:
    if as_json:
        print_json({"out": str(out), **rules.config.to_dict(), "facts": rules.facts})
        return
    facts = rules.facts
    console().print(f"[green]{escape(out)}[/]: {len(rules):,} rules")
    counts = f"{facts['closed_paths']:,} paths, {facts['with_constants']:,} with constants"
    sampled = f"{facts['sampled']:,} counted on a sample"
    console().print(f"  {counts}; {sampled}")
    drawn = f"{facts['rounds']} rounds of longer paths, {facts['samples']:,} facts drawn"
    console().print(f"  {drawn}, {facts['minutes']:.1f} minutes, seed {facts['settings']['seed']}")
    if facts["hubs"]:
        message = f"{facts['hubs']:,} entities have too many facts to count for constants"
        console().print(f"  {message} (--hub-edges)")
    console().print(f"  list them: kgraft reason rules {escape(out)}")
