"""`kgraft embed predict` and `similar`: what vectors say of an entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.embed.vectors import Vectors, name_and_id, open_vectors
from kgraft.cli.output import MOST, AsJson, GraphName, console, escape, print_json
from kgraft.errors import BadInput

if TYPE_CHECKING:
    from kgraft.embed import Prediction


def predict(
    graph: GraphName,
    vectors: Vectors,
    head: Annotated[str | None, typer.Option(help="Ask for the tails of this entity.")] = None,
    relation: Annotated[str, typer.Option("--relation", "-r", help="Id or label.")] = "",
    tail: Annotated[str | None, typer.Option(help="Ask for the heads of this entity.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Answers to show.")
    ] = 10,
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
    named = head if head is not None else tail or ""
    predictor = open_vectors(graph, vectors, entities=[named], relation=relation)
    asked = predictor.graph.resolve(named)
    by = predictor.graph.relation(relation)
    if head is not None:
        answers = predictor.tails(asked, by, limit=limit, new=new)
    else:
        answers = predictor.heads(by, asked, limit=limit, new=new)
    if as_json:
        print_json([answer.to_dict() for answer in answers])
        return
    question = (asked.label, by.label, "?") if head is not None else ("?", by.label, asked.label)
    console().print(escape(" — ".join(question)))
    _print_predictions(answers)


def _print_predictions(answers: list[Prediction]) -> None:
    from rich.table import Table

    table = Table("probability", "score", "answer", "", box=None, header_style="dim")
    for answer in answers:
        probability = "" if answer.probability is None else f"{answer.probability:.3f}"
        status = "[dim]known[/]" if answer.known else "[green]new[/]"
        table.add_row(probability, f"{answer.score:.3f}", name_and_id(answer.entity), status)
    console().print(table)


def similar(
    graph: GraphName,
    vectors: Vectors,
    entity: Annotated[str, typer.Argument(help="An entity's id or name.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Entities to show.")
    ] = 10,
    same_type: Annotated[
        bool, typer.Option("--same-type", help="Only entities that share a type with it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the entities whose vectors point the same way.

    Example:  kgraft embed similar world world.complex Peru --same-type
    """
    from rich.table import Table

    predictor = open_vectors(graph, vectors, entities=[entity])
    asked = predictor.graph.resolve(entity)
    nearest = predictor.vectors.nearest(asked, limit=limit, same_type=same_type)
    if as_json:
        print_json([similar.to_dict() for similar in nearest])
        return
    table = Table("cosine", f"like {escape(asked.label)}", box=None, header_style="dim")
    for other, cosine in nearest:
        table.add_row(f"{cosine:.3f}", name_and_id(other))
    console().print(table)
