"""`kgraft link calibrate`: the threshold that suits a graph and your texts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_lines, need_link_model
from kgraft.cli.link.options import LinkModelOption
from kgraft.cli.output import MOST, AsJson, GraphOption, console, print_json
from kgraft.progress import progress_bar


def calibrate(
    texts: Annotated[
        Path, typer.Argument(help="Texts as they are linked: JSON Lines with a text, or lines.")
    ],
    graph: GraphOption = "world",
    model: LinkModelOption = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Most texts that are read.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Choose the threshold for a graph from your own texts; no annotation is needed.

    It is the one with the highest F1 to expect, given the scores of all possible links. It is kept
    and used from then on for this graph and model.

    Example:  kgraft link calibrate docs.jsonl --graph my-graph
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_lines(texts)
    need_link_model(model)
    from kgraft.corpus import read_documents
    from kgraft.link import Linker, calibrate_threshold

    sample = [document["text"] for document in islice(read_documents(texts), limit)]
    with progress_bar() as progress:
        progress.start("linking, and encoding entities seen for the first time")
        threshold = calibrate_threshold(Linker(opened, model), sample)
    if as_json:
        print_json({"threshold": threshold, "texts": len(sample)})
    else:
        console().print(f"threshold [green]{threshold:.2f}[/], from {len(sample):,} texts")
