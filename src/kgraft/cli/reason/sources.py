"""What the commands that complete a graph share: options for sources, and opening them."""

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
from kgraft.errors import BadInput

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.reason import Completer, CompleterConfig

RulesOption = Annotated[
    Path | None, typer.Option("--rules", help="Rules of 'kgraft reason mine'.", metavar="RULES")
]
VectorsOption = Annotated[
    Path | None,
    typer.Option("--vectors", help="Vectors of 'kgraft embed train'.", metavar="VECTORS"),
]
TextOption = Annotated[
    Path | None,
    typer.Option("--text", help="A model of 'kgraft reason train --text'.", metavar="MODEL"),
]
ReasonerOption = Annotated[
    Path | None,
    typer.Option(
        "--reasoner", help="A reasoner of 'kgraft reason train'; else the one that ships."
    ),
]
CompleterOption = Annotated[
    Path | None,
    typer.Option(
        "--completer",
        "-c",
        help="What 'kgraft reason combine' wrote: sources with their weights.",
    ),
]


def named_sources(
    rules: Path | None, vectors: Path | None, text: Path | None, reasoner: Path | None
) -> CompleterConfig:
    """Return what options name, once it is there."""
    from kgraft.reason.settings import CompleterConfig

    need_rules(rules)
    need_reasoner(reasoner)
    need_text_model(text)
    if vectors is not None:
        need_vectors(vectors)
    names = {"rules": rules, "vectors": vectors, "text": text, "reasoner": reasoner}
    given = {name: str(path.resolve()) for name, path in names.items() if path is not None}
    return CompleterConfig.from_dict(given)


def open_sources(graph: Graph, config: CompleterConfig, completer: Path | None = None) -> Completer:
    """Open a completer; one that was combined names its own sources."""
    if completer is not None:
        if config != type(config)():
            raise BadInput(
                "a completer has its own sources", remedy="give --completer, or single sources"
            )
        config = type(config).from_dict(need_completer(completer))
    from kgraft.reason import open_completer

    score = None
    if config.vectors is not None:
        from kgraft.embed import LinkPredictor

        score = LinkPredictor.from_pretrained(config.vectors, graph).embedding.score
    return open_completer(graph, config, weights=completer, vectors=score)
