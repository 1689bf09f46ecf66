"""`kgraft ask QUESTION`: answers to questions over a graph, with the facts that lead there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_answerer
from kgraft.cli.output import MOST, AsJson, GraphOption, Quiet, console, escape, print_json
from kgraft.errors import BadInput
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.ask import AnsweredQuestion


def question(
    questions: Annotated[
        list[str], typer.Argument(help="One or more questions.", metavar="QUESTION...")
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="A folder of 'kgraft ask train'.")],
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

    kgraft's own linker finds what a question is about, unless --about names it. The score of an
    answer is its probability among all entities that are reached.

    Examples:

      kgraft ask "who directed Alien" --model answerer --graph movies

      kgraft ask "who wrote it" --about Alien --model answerer --graph movies --json
    """
    from kgraft.graph import Graph

    if not all(text.strip() for text in questions):
        raise BadInput("a question is empty", remedy="give some words to read")
    opened = Graph.open(graph)
    topic = None if about is None else opened.resolve(about)
    need_answerer(model)
    from kgraft.ask import Answerer, Questions
    from kgraft.link import Linker

    with progress_bar(quiet) as progress:
        answerer = Answerer.from_pretrained(model, graph=opened, progress=progress)
        progress.start("answering")
        linked = Questions.link(questions, Linker(opened), topic)
        answered = answerer.answer(linked, limit=limit)
    if as_json:
        print_json([each.to_dict() for each in answered])
    else:
        _print(answered)


def _print(answered: Sequence[AnsweredQuestion]) -> None:
    from rich.table import Table

    out = console()
    for each in answered:
        about = f"{escape(each.topic.label)}[/] [cyan]{escape(each.topic.id)}[/]"
        out.print(f"{escape(each.question)}  [dim]about {about}")
        if not each.answers:
            out.print("  no entity is reached from it in the graph")
            continue
        table = Table("score", "answer", "because", box=None, header_style="dim")
        for answer in each.answers:
            because = " · ".join(" — ".join(fact) for fact in answer.facts())
            entity = answer.entity
            name = f"[bold green]{escape(entity.label)}[/] [cyan]{escape(entity.id)}[/]"
            table.add_row(f"{answer.score:.2f}", name, escape(because))
        out.print(table)
