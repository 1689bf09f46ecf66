"""`kgraft reason predict` and `explain`: what is missing in a graph, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.output import MOST, AsJson, GraphName, console, escape, print_json
from kgraft.cli.reason.sources import CompleterOption, check_sources, open_sources
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.errors import BadInput
from kgraft.reason.settings import CompleterConfig

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.reason import Explanation, Prediction, Reason


@settings_options(CompleterConfig, parameter="sources")
def predict(
    graph: GraphName,
    head: Annotated[str | None, typer.Option(help="Ask for the tails of this entity.")] = None,
    relation: Annotated[str, typer.Option("--relation", "-r", help="Id or label.")] = "",
    tail: Annotated[str | None, typer.Option(help="Ask for the heads of this entity.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Answers to show.")
    ] = 5,
    new: Annotated[bool, typer.Option("--new", help="Leave out what the graph says.")] = False,
    reasons: Annotated[
        int, typer.Option(min=0, max=100, help="Reasons to show for each answer.")
    ] = 1,
    completer: CompleterOption = None,
    as_json: AsJson = False,
    *,
    sources: Changes,
) -> None:
    """Say which entities most likely complete a fact, and why.

    Nothing has to be trained on the graph: the reasoner that ships follows its paths. Rules,
    vectors and texts help where there are some. Answers that all facts of the relation speak
    against, such as a country that borders itself, do not come up.

    The probability is calibrated on other graphs, or on this one by 'kgraft reason combine'.

    Examples:

      kgraft reason predict world --head Peru --relation borders

      kgraft reason predict my-graph --relation supplies --tail Acme --new --reasons 3 --json
    """
    _check_query(head, relation, tail)
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    asked = opened.resolve(head if head is not None else tail or "")
    by = opened.relation(relation)
    config = check_sources(sources, completer)
    made = open_sources(opened, config, completer)
    if head is not None:
        answers = made.tails(asked, by, limit=limit, new=new, reasons=reasons)
    else:
        answers = made.heads(by, asked, limit=limit, new=new, reasons=reasons)
    if as_json:
        print_json([answer.to_dict() for answer in answers])
        return
    question = (asked.label, by.label, "?") if head is not None else ("?", by.label, asked.label)
    console().print(escape(" — ".join(question)))
    _print_predictions(answers)


def _check_query(head: str | None, relation: str, tail: str | None) -> None:
    """Refuse a query that does not give a relation and one end."""
    if (head is None) == (tail is None):
        raise BadInput("give either --head or --tail, with --relation")
    if not relation:
        raise BadInput("no relation is given", remedy="add --relation R")


def _print_predictions(answers: list[Prediction]) -> None:
    from rich.table import Table

    if not answers:
        console().print("nothing: all facts of the relation speak against what it lacks")
        return
    table = Table("probability", "answer", "", "why", box=None, header_style="dim")
    for answer in answers:
        probability = "" if answer.probability is None else f"{answer.probability:.3f}"
        status = "[dim]known[/]" if answer.known else "[green]new[/]"
        name = f"{escape(answer.entity.label)} [cyan]{escape(answer.entity.id)}[/]"
        why = "\n".join(escape(_line(reason)) for reason in answer.reasons)
        table.add_row(probability, name, status, why)
    console().print(table)


def _line(reason: Reason) -> str:
    return f"{reason.source} {reason.score:.2f}: {reason.words}"


@settings_options(CompleterConfig, parameter="sources")
def explain(
    graph: GraphName,
    head: Annotated[str, typer.Argument(help="An entity's id or name.", metavar="HEAD")],
    relation: Annotated[str, typer.Argument(help="Id or label.", metavar="RELATION")],
    tail: Annotated[str, typer.Argument(help="An entity's id or name.", metavar="TAIL")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Reasons of each source.")
    ] = 5,
    completer: CompleterOption = None,
    as_json: AsJson = False,
    *,
    sources: Changes,
) -> None:
    """Show all that speaks for one fact, and against it.

    The fact need not be in the graph; if it is, the reasons are those that remain without it.

    Examples:

      kgraft reason explain world Peru borders Chile

      kgraft reason explain world Paris "capital of" Austria --json
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    ends = opened.resolve(head), opened.resolve(tail)
    by = opened.relation(relation)
    config = check_sources(sources, completer)
    made = open_sources(opened, config, completer)
    explained = made.explain(ends[0], by, ends[1], limit=limit)
    if as_json:
        print_json(explained.to_dict())
    else:
        _print_explanation(opened, explained)


def _print_explanation(graph: Graph, explained: Explanation) -> None:
    status = "in the graph" if explained.known else "not in the graph"
    parts = [status, f"rank {explained.rank:,} of {len(graph):,} without the known answers"]
    if explained.probability is not None:
        parts.append(f"probability {explained.probability:.3f}")
    fact = " — ".join((explained.head.label, explained.relation.label, explained.tail.label))
    console().print(f"{escape(fact)}: {escape(', '.join(parts))}")
    for against in (False, True):
        reasons = [reason for reason in explained.reasons if reason.against == against]
        if reasons or not against:
            console().print("[red]against[/]" if against else "[green]for[/]")
        for reason in reasons:
            console().print(f"  {escape(_line(reason))}")
            for path in reason.paths:
                if path.verbalise() != reason.words:
                    console().print(f"      [dim]{escape(path.verbalise())}[/]")
        if not reasons and not against:
            console().print("  nothing")
