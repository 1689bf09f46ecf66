"""`kgraft joint answer`: answers to questions over a graph, each with the facts that lead there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.given import need_answerer
from kgraft.cli.output import MOST, AsJson, GraphOption, Quiet, console, escape, print_json
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.tasks.graph_answers import Answer


def answer(
    questions: Annotated[
        list[str], typer.Argument(help="What to ask, a question each.", metavar="QUESTION...")
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="A folder of 'kgraft joint train'.")],
    graph: GraphOption = "world",
    about: Annotated[
        str | None, typer.Option(help="The entity it is about, by id or name, if not linked.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="Answers to show.")
    ] = 3,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Answer questions over a graph, with the facts that lead from what is asked about there.

    What a question is about is found by kgraft's own linker, or told by --about. The share of an
    answer is how likely it is among all that lies around.

    Examples:

      kgraft joint answer "who directed Alien" --model answerer --graph movies

      kgraft joint answer "who wrote it" --about Alien --model answerer --graph movies --json
    """
    from kgraft.graph import Graph

    if not all(question.strip() for question in questions):
        raise BadInput("a question is empty", remedy="give some words to read")
    opened = Graph.open(graph)
    topic = None if about is None else opened.resolve(about)
    need_answerer(model)
    from kgraft.link import Linker
    from kgraft.tasks.answering import load_answerer
    from kgraft.tasks.graph_questions import Questions

    with progress_bar(quiet) as progress:
        answerer = load_answerer(model, opened, progress=progress)
        progress.start("answering")
        asked = Questions.asked(questions, Linker(opened), topic)
        found = answerer.answers(asked, most=limit)
    told = [
        {
            "question": text,
            "about": _named(opened, number),
            "answers": [_as_object(opened, answer) for answer in answers],
        }
        for text, number, answers in zip(asked.texts, asked.topic.tolist(), found, strict=True)
    ]
    if as_json:
        print_json(told)
    else:
        _show(told)


def _named(graph: Graph, number: int) -> dict[str, str]:
    entity = graph.entity(number)
    return {"id": entity.id, "label": entity.label}


def _as_object(graph: Graph, answer: Answer) -> dict[str, Any]:
    path = [
        [graph.entity(head).label, graph.relation(by).label, graph.entity(tail).label]
        for head, by, tail in answer.path
    ]
    return {**_named(graph, answer.entity), "share": answer.likely, "path": path}


def _show(told: list[dict[str, Any]]) -> None:
    from rich.table import Table

    out = console()
    for each in told:
        topic = each["about"]
        out.print(f"{escape(each['question'])}  [dim]about {escape(topic['label'])}[/] "
                  f"[cyan]{escape(topic['id'])}[/]")  # fmt: skip
        if not each["answers"]:
            out.print("  nothing lies around it in the graph")
            continue
        table = Table("share", "answer", "because", box=None, header_style="dim")
        for answer in each["answers"]:
            because = " · ".join(" — ".join(fact) for fact in answer["path"])
            name = f"[bold green]{escape(answer['label'])}[/] [cyan]{escape(answer['id'])}[/]"
            table.add_row(f"{answer['share']:.2f}", name, escape(because))
        out.print(table)
