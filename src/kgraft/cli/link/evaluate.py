"""`kgraft link eval`: how good links are on annotated texts, and what goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.given import need_link_model
from kgraft.cli.link.options import LinkModelOption, Threshold
from kgraft.cli.output import MOST, AsJson, GraphOption, Quiet, console, escape, print_json
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.link import Report


def eval_(
    texts: Annotated[
        Path, typer.Argument(help="Annotated texts: JSON Lines with text and mentions.")
    ],
    graph: GraphOption = "world",
    model: LinkModelOption = None,
    threshold: Threshold = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Mentions may be left unmarked in the texts.")
    ] = False,
    errors: Annotated[
        int, typer.Option(min=0, max=MOST, help="Examples to show of each kind of error.")
    ] = 3,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare links with marked mentions: precision, recall, F1, and the errors by kind.

    Weak: the right entity, and the spans overlap. Strong: the same span, too.

    Example:  kgraft link eval test.jsonl --graph my-graph --model my-linker
    """
    from kgraft.corpus import read_annotated
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_link_model(model)
    marked = read_annotated(texts, opened)
    from kgraft.link import Linker, report

    with progress_bar(quiet) as progress:
        linker = Linker(opened, model)
        progress.start("linking", None)
        made = report(linker, marked, threshold=threshold, partial=partial, examples=errors)
    if as_json:
        print_json(made.to_dict())
    else:
        _print(made)


def _print(made: Report) -> None:
    from rich.table import Table

    out = console()
    table = Table("", "precision", "recall", "F1", box=None, header_style="dim")
    for kind in ("weak", "strong"):
        row = (f"{made.figures[f'{kind}_{name}']:.3f}" for name in ("precision", "recall", "f1"))
        table.add_row(kind, *row)
    out.print(table)
    size = f"{made.texts:,} texts, {made.mentions:,} mentions, threshold {made.threshold:.2f}"
    out.print(f"[dim]{size}, calibration error {made.calibration_error:.3f}[/]")
    for title, groups in (("recall by type", made.by_type), ("by frequency", made.by_frequency)):
        shown = "  ".join(f"{escape(n)} {r:.2f} [dim]({c})[/]" for n, (r, c) in groups.items())
        out.print(f"{title}: {shown}")
    for kind, errors in made.errors.items():
        out.print(f"\n[bold]{kind}[/]: {errors.count}")
        for example in errors.examples:
            out.print("  " + escape(_line(example)))


def _line(example: dict[str, Any]) -> str:
    marked = f"“{example['surface']}” is {example['entity']}" if "entity" in example else ""
    linked = f"linked: “{example['linked']}” to {example['to']}" if "to" in example else ""
    return "; ".join(filter(None, (example["text"], marked, linked)))
