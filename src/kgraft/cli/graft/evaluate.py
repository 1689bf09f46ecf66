"""`kgraft graft eval`: what knowledge is worth on a task, on, off, and the difference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.output import AsJson, Quiet, console, print_json
from kgraft.progress import progress_bar


def eval_(
    task: Annotated[
        str,
        typer.Argument(help="wic, semeval2010-8, typing, senses, facts or perplexity."),
    ],
    data: Annotated[Path, typer.Option(help="The folder with the task's files.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="A folder of 'kgraft graft train'.")],
    seeds: Annotated[int, typer.Option(min=1, help="Trainings, where the task trains.")] = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Measure a grafted encoder on a task with its knowledge on and off.

    Tasks that classify are fine-tuned first, in the same way on both sides, on the train file of
    the folder; the epoch is chosen on its dev file. The interval holds the difference in 95 of 100
    cases (paired bootstrap over the examples, seeds pooled).

    Example:  kgraft graft eval wic --data DATA/wic --model grafted
    """
    from kgraft.tasks import evaluate

    with progress_bar(quiet) as progress:
        found = evaluate(task, data, model, seeds=seeds, progress=progress)
    if as_json:
        print_json({"task": task, "difference": found.difference, **vars(found)})
    else:
        console().print(f"{task}  {found}")
