"""`kgraft graft train`: an encoder that reads with a graph's knowledge."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import (
    GRAFTS,
    choose,
    need_encoder,
    need_graft,
    need_room,
    need_texts,
    need_vectors,
)
from kgraft.cli.graft.texts import prepare
from kgraft.cli.output import (
    MOST_PASSES,
    AsJson,
    GraphName,
    Quiet,
    Seed,
    console,
    epoch_line,
    escape,
    print_json,
)
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graft import GraftedEncoder

FIGURES = ("accuracy", "perplexity")  # that are told of an epoch


def train(
    graph: GraphName = "world",
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Texts with marked mentions or senses, JSON Lines; without, the graph's own."
        ),
    ] = None,
    counted: Annotated[
        bool,
        typer.Option(
            "--counted",
            help="The graph's counts of senses are of these texts, as WordNet's are of SemCor.",
        ),
    ] = False,
    found: Annotated[
        bool,
        typer.Option(
            "--found",
            help="Look words up as in any text, not by their marked lemma and part of speech.",
        ),
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("graft"),
    layer: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="The layer to graft after; else the last but one, the last with --expect.",
        ),
    ] = None,
    vectors: Annotated[
        list[Path] | None, typer.Option(help="Folders of 'kgraft embed train', to know facts by.")
    ] = None,
    upwards: Annotated[
        list[str] | None,
        typer.Option(help="Relations that lead to what a thing is a kind of, such as hypernym."),
    ] = None,
    expect: Annotated[
        bool,
        typer.Option(
            "--expect",
            help="Recall facts: where a word is hidden, expect what the graph says of the others.",
        ),
    ] = False,
    start: Annotated[
        Path | None, typer.Option(help="A graft to add this one to, at another layer.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="The host: a folder or hub name, if not the default.")
    ] = None,
    kind: Annotated[
        str, typer.Option(help="How knowledge comes in: attention, entity or relation.")
    ] = "attention",
    linker_epochs: Annotated[
        int | None,
        typer.Option(min=0, max=MOST_PASSES, help="Passes in which only the linker learns."),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=0, max=MOST_PASSES, help="Passes after those.")
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(min=1, max=4096, help="Change the host by this rank, for a small file."),
    ] = None,
    seed: Seed = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a graft that is there.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Graft a graph's knowledge onto an encoder, and train it.

    First the linker inside the graft learns alone which entities are meant, then all learns
    together but the entities' vectors, from masked words and from marked mentions; where the ids of
    texts tell documents (doc1.1, doc1.2, …), also which text follows another. A tenth of the texts
    is set apart to choose the epoch by. Interrupted or killed, the same command goes on where it
    stopped.

    Examples:

      kgraft graft train my-graph --texts marked.jsonl --out grafted

      kgraft graft train wordnet --texts semcor.jsonl --counted --layer 6 --out senses

      kgraft graft train wordnet --texts semcor.jsonl --found --upwards hypernym --out reads

      kgraft graft train wordnet --start grafted --layer 6 --out both

      kgraft graft train world --expect --out recalls
    """
    from kgraft.graph import Graph

    choose("kind", kind, GRAFTS)
    opened = Graph.open(graph)
    for name in upwards or ():
        opened.relation(name)
    need_texts(texts)
    need_graft(start)
    need_encoder(encoder)
    need_room(out, overwrite=overwrite)
    for folder in vectors or ():
        need_vectors(folder)
    from kgraft.graft import GraftSettings, attach, open_knowledge, train_graft
    from kgraft.text import MaskedHead, layers_of

    settings = GraftSettings(seed=seed).changed(
        linker_epochs=linker_epochs, epochs=epochs, rank=rank
    )
    told: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        grafted = _host(start, encoder)
        hidden = grafted.tokenizer.mask_token if expect else None
        knowledge = open_knowledge(
            graph, vectors or (), hidden=hidden, upwards=upwards or (), progress=progress
        )
        after = layer or len(layers_of(grafted.model)) - (0 if expect else 1)
        attach(grafted.model, {after: knowledge}, kind=kind, seed=seed)  # type: ignore[arg-type]
        ready = prepare(grafted, after, knowledge, texts, seed, counted=counted, found=found)
        if not quiet:
            said = f"{knowledge.name} after layer {after}; {ready.said}; seed {seed}"
            print(said, file=sys.stderr)
            if start is None and settings.masked and settings.epochs:
                print("a head for masked words is trained first", file=sys.stderr)
        for epoch in train_graft(
            grafted,
            ready.learnt,
            out,
            valid=ready.chosen_by,
            head=None if start is None else MaskedHead.load(start, grafted).train(),
            settings=settings,
            identity={"texts": ready.digest, "graph": knowledge.graph.manifest.version},
            overwrite=overwrite,
            progress=progress,
        ):
            if not quiet:
                print(epoch_line(epoch, epoch.losses, FIGURES), file=sys.stderr)
            told = {"epoch": epoch.number, **epoch.figures}
    if as_json:
        print_json({"out": str(out), **told})
    else:
        console().print(
            f"[green]{escape(out)}[/]: look inside with  kgraft graft explain {escape(out)} TEXT"
        )


def _host(start: Path | None, encoder: str | None) -> GraftedEncoder:
    from kgraft.graft import GraftedEncoder
    from kgraft.text import Encoder

    if start is not None:
        return GraftedEncoder.from_pretrained(start)
    return GraftedEncoder(Encoder.load(encoder))
