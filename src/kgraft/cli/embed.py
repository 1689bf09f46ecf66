"""`kgraft embed`: learn vectors from a graph's triples, measure them, and use them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from kgraft.cli.output import AsJson, GraphName, Quiet, console, print_json
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.embed import Embedded, Prediction, Ranking
    from kgraft.graph import Entity
    from kgraft.training import Epoch

app = typer.Typer(
    help="Learn vectors from a graph's triples, measure them, and use them.", no_args_is_help=True
)

Vectors = Annotated[
    Path, typer.Argument(help="The folder that 'kgraft embed train' wrote.", metavar="VECTORS")
]
MODELS = "transe, rotate, distmult or complex"


@app.command()
def train(
    graph: GraphName = "world",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder to write, if not GRAPH.MODEL."),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help=f"{MODELS}.")] = "complex",
    preset: Annotated[
        str | None,
        typer.Option(help="Settings tuned for one graph, such as complex-wn18rr; see docs."),
    ] = None,
    dimension: Annotated[int | None, typer.Option(help="Numbers in an entity's vector.")] = None,
    similarity: Annotated[
        str | None, typer.Option(help="dot, l2, squared, l1 or modulus: what the model allows.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="softmax, sampled-softmax, self-adversarial or margin.")
    ] = None,
    negatives: Annotated[
        int | None, typer.Option(help="Wrong answers a query, for the losses that draw them.")
    ] = None,
    corruption: Annotated[
        str | None, typer.Option(help="Ends asked for: both, or one: uniform or bernoulli.")
    ] = None,
    reciprocal: Annotated[
        bool | None, typer.Option(help="A vector of its own for each relation asked backwards.")
    ] = None,
    margin: Annotated[float | None, typer.Option(help="γ of margin and self-adversarial.")] = None,
    optimiser: Annotated[str | None, typer.Option(help="adagrad or adam.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Size of a step.")] = None,
    regulariser: Annotated[str | None, typer.Option(help="n3, l2 or dura.")] = None,
    weight: Annotated[
        float | None, typer.Option(help="Weight of the regulariser on entities.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Queries or triples an update.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Most passes over the graph.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Validations without a better MRR before it stops.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random choices.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace vectors that are there.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train vectors for a graph's entities and relations.

    Each model has good settings of its own; options change single ones. Training stops when the
    MRR on validation triples no longer grows. Interrupted or killed, the same command goes on where
    it stopped. TensorBoard reads OUT.training/events while it runs.

    Examples:

      kgraft embed train world --model rotate --out world-rotate

      kgraft embed train my-graph --dimension 128 --epochs 50

      accelerate launch --multi_gpu --num_processes 2 -m kgraft embed train my-graph
    """
    from kgraft.embed import preset_settings, train_embedding
    from kgraft.graph import Graph
    from kgraft.training import Processes

    opened = Graph.open(graph)
    settings = preset_settings(preset or model, opened).changed(
        dimension=dimension,
        similarity=similarity,
        loss=loss,
        negatives=negatives,
        corruption=corruption,
        reciprocal=reciprocal,
        margin=margin,
        optimiser=optimiser,
        learning_rate=learning_rate,
        regulariser=regulariser,
        entity_weight=weight,
        batch=batch,
        epochs=epochs,
        patience=patience,
        seed=seed,
    )
    out = out or Path(f"{opened.manifest.name or opened.folder.name}.{settings.model}")
    quiet = quiet or not Processes.here().main
    if not quiet:
        print(f"{settings.model}, seed {settings.seed}; {settings.in_words()}", file=sys.stderr)
    with progress_bar(quiet) as progress:
        for epoch in train_embedding(opened, settings, out, overwrite=overwrite, progress=progress):
            if not quiet:
                print(_epoch_line(epoch), file=sys.stderr)
    if Processes.here().main:
        _report_training(out, as_json=as_json)


def _epoch_line(epoch: Epoch) -> str:
    parts = [f"epoch {epoch.number}", f"loss {epoch.losses['loss']:.4f}"]
    if epoch.figures:
        parts.append(_figure_words(epoch.figures))
    parts.append(f"{epoch.seconds / 60:.1f} min")
    return "  ".join(parts) + ("  (best)" if epoch.best else "")


def _report_training(out: Path, *, as_json: bool) -> None:
    from kgraft.vectors import read_vectors

    manifest = read_vectors(out).manifest
    if as_json:
        print_json(manifest)
        return
    facts = manifest.facts
    size = f"{manifest.entities:,} entities × {manifest.dimension}"
    console().print(f"[green]{escape(str(out))}[/]: {size}, {facts['model']}")
    if facts["held_out"]:
        console().print(f"  no valid split: {facts['held_out']:,} triples were held out for it")
    if facts["valid"]:
        console().print(f"  valid: {_figure_words(facts['valid'])}")
        console().print(f"  [dim]{facts['protocol']}[/]")


def _figure_words(figures: dict[str, float]) -> str:
    names = {"mrr": "MRR", "hits1": "Hits@1", "hits3": "Hits@3", "hits10": "Hits@10"}
    return "  ".join(f"{words} {figures[name]:.4f}" for name, words in names.items())


@app.command("eval")
def eval_(
    graph: GraphName,
    vectors: Vectors,
    split: Annotated[str, typer.Option(help="The triples to rank: train, valid or test.")] = "test",
    relations: Annotated[
        int, typer.Option(min=0, help="Relations to show, the most frequent first.")
    ] = 10,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Rank the true answers of held-out triples among all entities: MRR and Hits.

    Example:  kgraft embed eval fb15k237 fb15k237.complex --relations 20
    """
    from kgraft.embed import Queries, relation_categories

    embedded = _open(graph, vectors)
    with progress_bar(quiet) as progress:
        ranking = embedded.rank(split, progress=progress)
    train = embedded.graph.split("train").triples
    categories = relation_categories(Queries.of(train, embedded.graph.manifest.relations))
    rows = _rows(embedded, ranking, ranking.by_category(categories))
    if as_json:
        print_json({"split": split, "protocol": ranking.protocol, **rows})
    else:
        _print_ranking(rows, ranking, split, relations)


def _rows(
    embedded: Embedded, ranking: Ranking, categories: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """Return all figures of a ranking, relations by their id, the most frequent first."""
    ids = embedded.graph.relations["id"].to_pylist()
    by_relation = sorted(ranking.by_relation().items(), key=lambda row: -row[1]["count"])
    return {
        "all": ranking.figures(),
        "sides": ranking.by_side(),
        "categories": categories,
        "relations": {ids[number]: figures for number, figures in by_relation},
    }


def _print_ranking(rows: dict[str, Any], ranking: Ranking, split: str, relations: int) -> None:
    from rich.table import Table

    table = Table("", "queries", "MRR", "Hits@1", "Hits@3", "Hits@10", box=None, header_style="dim")
    for column in table.columns[1:]:
        column.justify = "right"
    shown = dict(list(rows["relations"].items())[:relations])
    for group in ({f"all of {split}": rows["all"]}, rows["sides"], rows["categories"], shown):
        for name, figures in group.items():
            numbers = (f"{figures[n]:.4f}" for n in ("mrr", "hits1", "hits3", "hits10"))
            table.add_row(escape(name), f"{figures['count']:,}", *numbers)
        table.add_section()
    console().print(table)
    console().print(f"[dim]{ranking.protocol}[/]")


@app.command()
def predict(
    graph: GraphName,
    vectors: Vectors,
    head: Annotated[str | None, typer.Option(help="Ask for the tails of this entity.")] = None,
    relation: Annotated[str, typer.Option("--relation", "-r", help="Id or label.")] = "",
    tail: Annotated[str | None, typer.Option(help="Ask for the heads of this entity.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Answers to show.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Leave out what the graph says.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say which entities most likely complete a fact; facts of the graph are marked.

    The probability is calibrated: of the new answers with 0.3, about 30 % were among the held-out
    facts. True facts that the graph lacks count as wrong there, so it is rather too low.

    Examples:

      kgraft embed predict world world.complex --head Peru --relation borders

      kgraft embed predict world world.complex --relation capital --tail Lima --json
    """
    if (head is None) == (tail is None):
        raise BadInput("give either --head or --tail, with --relation")
    if not relation:
        raise BadInput("no relation is given", remedy="add --relation R")
    embedded = _open(graph, vectors)
    asked = embedded.graph.resolve(head if head is not None else tail or "")
    by = embedded.graph.relation(relation)
    if head is not None:
        answers = embedded.tails(asked, by, limit=limit, new=new)
    else:
        answers = embedded.heads(by, asked, limit=limit, new=new)
    if as_json:
        print_json([_as_object(answer) for answer in answers])
        return
    question = (asked.label, by.label, "?") if head is not None else ("?", by.label, asked.label)
    console().print(escape(" — ".join(question)))
    _print_predictions(answers)


def _as_object(answer: Prediction) -> dict[str, object]:
    return {
        "id": answer.entity.id,
        "label": answer.entity.label,
        "score": answer.score,
        "probability": answer.probability,
        "known": answer.known,
    }


def _print_predictions(answers: list[Prediction]) -> None:
    from rich.table import Table

    table = Table("probability", "score", "answer", "", box=None, header_style="dim")
    for answer in answers:
        share = "" if answer.probability is None else f"{answer.probability:.3f}"
        known = "[dim]known[/]" if answer.known else "[green]new[/]"
        table.add_row(share, f"{answer.score:.3f}", _name(answer.entity), known)
    console().print(table)


def _name(entity: Entity) -> str:
    return f"{escape(entity.label)} [cyan]{escape(entity.id)}[/]"


@app.command()
def similar(
    graph: GraphName,
    vectors: Vectors,
    entity: Annotated[str, typer.Argument(help="An entity's id or name.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Entities to show.")] = 10,
    same_type: Annotated[
        bool, typer.Option("--same-type", help="Only entities that share a type with it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the entities whose vectors point the same way.

    Example:  kgraft embed similar world world.complex Peru --same-type
    """
    from rich.table import Table

    embedded = _open(graph, vectors)
    asked = embedded.graph.resolve(entity)
    near = embedded.vectors.nearest(asked.index, limit=limit, same_type=same_type)
    found = embedded.graph.entities_at([n.entity for n in near])
    pairs = list(zip(found, (n.cosine for n in near), strict=True))
    if as_json:
        print_json([{"id": e.id, "label": e.label, "cosine": cosine} for e, cosine in pairs])
        return
    table = Table("cosine", f"like {escape(asked.label)}", box=None, header_style="dim")
    for other, cosine in pairs:
        table.add_row(f"{cosine:.3f}", _name(other))
    console().print(table)


@app.command()
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
    from kgraft.embed import export_vectors

    embedded = _open(graph, vectors)
    with progress_bar(quiet) as progress:
        written = export_vectors(
            embedded.graph,
            embedded.embedding.entities,
            out,
            format=format,
            relations=embedded.embedding.relations if relations else None,
            progress=progress,
        )
    for path in written:
        console().print(f"[green]{escape(str(path))}[/]")


@app.command()
def plot(
    graph: GraphName,
    vectors: Vectors,
    out: Annotated[Path, typer.Option("--out", "-o", help="A .png, .svg or .pdf file.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=3, help="Entities to draw, the best-connected.")
    ] = 2000,
    labels: Annotated[int, typer.Option(min=0, help="Names to write.")] = 60,
) -> None:
    """Draw a map of the entities: those with like vectors lie together.

    Example:  kgraft embed plot world world.complex --out world.png
    """
    from kgraft.embed import choose_entities, plot_vectors

    embedded = _open(graph, vectors)
    chosen = choose_entities(embedded.graph, limit)
    title = f"{embedded.graph.manifest.name}: {embedded.settings.model} vectors"
    found = embedded.vectors.take(chosen)
    plot_vectors(embedded.graph, chosen, found, out, labels=labels, title=title)
    console().print(f"[green]{escape(str(out))}[/]: {len(chosen):,} entities")


def _open(graph: str, vectors: Path) -> Embedded:
    from kgraft.embed import Embedded
    from kgraft.graph import Graph

    embedded = Embedded.open(vectors, Graph.open(graph))
    unseen = len(embedded.vectors.trained.unseen)
    if unseen:
        words = f"{unseen:,} entities are new since the training"
        print(f"kgraft: {words}; their vectors come from their neighbours", file=sys.stderr)
    return embedded
