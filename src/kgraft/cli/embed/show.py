"""`kgraft embed export` and `plot`: vectors for other programs and for the eye."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.embed.vectors import Vectors, open_vectors
from kgraft.cli.given import PICTURES, VECTOR_FILES, choose, need_new_file, need_suffix
from kgraft.cli.output import MOST, GraphName, Quiet, console, escape
from kgraft.progress import progress_bar


def export(
    graph: GraphName,
    vectors: Vectors,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    format: Annotated[
        str | None, typer.Option(help="tsv, word2vec, numpy or safetensors; by OUT's suffix.")
    ] = None,
    relations: Annotated[
        bool, typer.Option("--relations", help="Export the relations' vectors too.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write the vectors for other programs, rows named by id and label.

    Example:  kgraft embed export world world.complex --out world.tsv
    """
    choose("format", format, VECTOR_FILES)
    need_suffix(out, format, [suffix for each in VECTOR_FILES.values() for suffix in each])
    need_new_file(out)
    predictor = open_vectors(graph, vectors)
    from kgraft.embed import export_vectors

    with progress_bar(quiet) as progress:
        written = export_vectors(
            predictor.graph,
            predictor.embedding.entities,
            out,
            format=format,
            relations=predictor.embedding.relations if relations else None,
            progress=progress,
        )
    for path in written:
        console().print(f"[green]{escape(path)}[/]")


def plot(
    graph: GraphName,
    vectors: Vectors,
    out: Annotated[Path, typer.Option("--out", "-o", help="A .png, .svg or .pdf file.")],
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", min=3, max=MOST, help="Entities to draw, the best-connected."
        ),
    ] = 2000,
    labels: Annotated[int, typer.Option(min=0, max=MOST, help="Names to write.")] = 60,
) -> None:
    """Draw a map of the entities: entities with similar vectors lie together.

    Example:  kgraft embed plot world world.complex --out world.png
    """
    need_suffix(out, None, PICTURES)
    predictor = open_vectors(graph, vectors)
    from kgraft.embed import choose_entities, plot_vectors

    chosen = choose_entities(predictor.graph, limit)
    title = f"{predictor.graph.manifest.name}: {predictor.settings.model} vectors"
    entity_vectors = predictor.vectors.take(chosen)
    plot_vectors(predictor.graph, chosen, entity_vectors, out, labels=labels, title=title)
    console().print(f"[green]{escape(out)}[/]: {len(chosen):,} entities")
