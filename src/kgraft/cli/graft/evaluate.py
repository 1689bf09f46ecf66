"""`kgraft graft eval`: what knowledge adds on a task: on, off, and the difference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import TASK_FILES, need_encoder, need_graft, need_task_data
from kgraft.cli.output import AsJson, Quiet, console, escape, print_json
from kgraft.errors import BadInput
from kgraft.progress import progress_bar


def eval_(
    task: Annotated[
        str,
        typer.Argument(help="wic, semeval2010-8, typing, senses, facts or perplexity."),
    ],
    data: Annotated[Path, typer.Option(help="The folder with the task's files.")],
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="A folder of 'kgraft graft train'.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="A plain encoder instead, by folder or name; or 'default'.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=1000, help="Trainings, where the task trains.")
    ] = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Measure a grafted encoder on a task with its knowledge on and off.

    Tasks that classify are fine-tuned first, in the same way on both sides, on the train file of
    the folder; the epoch is chosen on its dev file. The interval holds the difference in 95 of 100
    cases (paired bootstrap over the examples, seeds pooled).

    With --encoder a plain encoder is fine-tuned in the same way, to compare with.

    Examples:

      kgraft graft eval wic --data DATA/wic --model grafted

      kgraft graft eval wic --data DATA/wic --encoder default
    """
    if (model is None) == (encoder is None):
        raise BadInput("there is nothing to measure", remedy="give either --model or --encoder")
    from kgraft.tasks import GRAFT_TASKS

    GRAFT_TASKS.check(task)
    if model is None and task not in TASK_FILES:
        remedy = f"choose from {', '.join(name for name in GRAFT_TASKS if name in TASK_FILES)}"
        raise BadInput(f"{task} needs a graft", remedy=f"{remedy}, or give one: --model")
    need_graft(model)
    need_encoder(None if encoder == "default" else encoder)
    need_task_data(task, data)
    if model is None:
        _plain(task, data, encoder, seeds, quiet=quiet, as_json=as_json)
        return
    with progress_bar(quiet) as progress:
        result = GRAFT_TASKS[task].compare(model, data, seeds=seeds, progress=progress)
    if as_json:
        print_json({"task": task, **result.to_dict()})
    else:
        console().print(escape(f"{task}  {result}"))


def _plain(
    task: str, data: Path, encoder: str | None, seeds: int, *, quiet: bool, as_json: bool
) -> None:
    from kgraft.tasks import evaluate_encoder

    name = None if encoder == "default" else encoder
    with progress_bar(quiet) as progress:
        figure = evaluate_encoder(task, name, data, seeds=seeds, progress=progress)
    if as_json:
        print_json({"task": task, "encoder": encoder, "figure": figure})
    else:
        console().print(escape(f"{task}  {figure:.4f}  (no knowledge)"))
