"""`kgraft joint eval`: what the graph is worth to a joint model on a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import JOINT_TASKS, choose, need_encoder, need_joint_model, need_task_data
from kgraft.cli.output import AsJson, Quiet, console, escape, print_json
from kgraft.progress import progress_bar


def eval_(
    task: Annotated[str, typer.Argument(help="classes, links, relations or questions.")],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="A folder of 'kgraft joint pretrain'.")
    ],
    graph: Annotated[
        str, typer.Option("--graph", "-g", help="Any graph, also one it was not trained on.")
    ] = "world",
    data: Annotated[
        Path | None, typer.Option(help="The folder with the task's files, where it has some.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Trainings.")] = 1,
    strategies: Annotated[
        bool, typer.Option("--strategies", help="Compare when the graph gets known, if at all.")
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="With --strategies: the encoder it was trained from, if it was moved."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a joint model on a task, with the graph's knowledge on and off, and compare.

    classes tells the types of the graph's entities; links tells the missing end of its test facts;
    relations tells which relation a text states from one example of each; questions answers
    questions over the graph. On a graph that the model has not seen, its descriptions are read
    once. The interval holds the difference in 95 of 100 cases (paired bootstrap over the examples,
    seeds pooled).

    With --strategies the encoder that never knew the graph is compared with four that do: from
    pre-training only, from fine-tuning only, from both, and by learning what the graph asks beside
    the task (multi-task).

    Examples:

      kgraft joint eval classes --model together --graph my-graph

      kgraft joint eval questions --model together --graph movies --data QUESTIONS

      kgraft joint eval relations --model together --graph my-graph --data TEXTS --strategies
    """
    from functools import partial

    from kgraft.graph import Graph

    choose("task", task, JOINT_TASKS)
    opened = Graph.open(graph)
    need_joint_model(model)
    need_task_data(task, data)
    need_encoder(encoder)
    from kgraft.joint import fresh_joint, load_joint
    from kgraft.joint.saving import read_facts
    from kgraft.tasks import compare_strategies, evaluate_joint
    from kgraft.tasks.joint_tasks import refuse_learnt

    load = partial(load_joint, model)
    refuse_learnt(task, read_facts(model), opened)
    with progress_bar(quiet) as progress:
        if strategies:
            fresh = partial(fresh_joint, model, opened, encoder)
            found = compare_strategies(
                task, load, fresh, opened, data, seeds=seeds, progress=progress
            )
        else:
            one = evaluate_joint(task, load, opened, data, seeds=seeds, progress=progress)
            found = {task: one}
    if as_json:
        told = {name: {"difference": x.difference, **vars(x)} for name, x in found.items()}
        print_json({"task": task, **(told if strategies else told[task])})
    else:
        for name, difference in found.items():
            console().print(escape(f"{name}  {difference}"))
