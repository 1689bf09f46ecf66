"""What the commands that complete a graph share: the sources that options name, opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import (
    need_completer,
    need_reasoner,
    need_rules,
    need_text_model,
    need_vectors,
)
from kgraft.cli.settings_options import Changes
from kgraft.errors import BadInput
from kgraft.reason.settings import CompleterConfig

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.reason import Completer

CompleterOption = Annotated[
    Path | None,
    typer.Option(
        "--completer",
        "-c",
        help="What 'kgraft reason combine' wrote: sources with their weights.",
    ),
]
NEEDS = {
    "reasoner": need_reasoner,
    "rules": need_rules,
    "vectors": need_vectors,
    "text": need_text_model,
}


def check_sources(sources: Changes, completer: Path | None = None) -> CompleterConfig:
    """Return the sources that options name, once they are there."""
    if completer is not None:
        if sources:
            raise BadInput(
                "a completer has its own sources", remedy="give --completer, or single sources"
            )
        return CompleterConfig.from_dict(need_completer(completer))
    resolved = dict(sources)
    for name, need in NEEDS.items():
        if name in sources:
            need(Path(sources[name]))
            resolved[name] = str(Path(sources[name]).resolve())
    return CompleterConfig.from_dict(resolved)


def open_sources(graph: Graph, config: CompleterConfig, completer: Path | None = None) -> Completer:
    """Open sources as a completer, with the weights of one that was combined."""
    from kgraft.reason import open_completer

    score = None
    if config.vectors is not None:
        from kgraft.embed import LinkPredictor

        score = LinkPredictor.from_pretrained(config.vectors, graph).embedding.score
    return open_completer(graph, config, weights=completer, vectors=score)
