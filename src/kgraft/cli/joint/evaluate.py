"""`kgraft joint eval`: what the graph adds to a joint model on a task."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_joint_model, need_task_data
from kgraft.cli.joint.options import JointModelOption, Seeds, print_difference
from kgraft.cli.output import AsJson, Quiet
from kgraft.progress import progress_bar


def eval_(
    task: Annotated[str, typer.Argument(help="classes, links or relations.")],
    model: JointModelOption,
    graph: Annotated[
        str, typer.Option("--graph", "-g", help="Any graph, also one it was not trained on.")
    ] = "world",
    data: Annotated[
        Path | None, typer.Option(help="The folder with the task's files, where it has some.")
    ] = None,
    seeds: Seeds = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a joint model on a task, with the graph's knowledge on and off, and compare.

    classes tells the types of the graph's entities; links tells the missing end of its test facts;
    relations tells which relation a text states from one example of each. Questions are measured by
    kgraft ask eval. On a graph that the model has not seen, its descriptions are read once. The
    interval holds the difference in 95 of 100 cases (paired bootstrap over the examples, seeds
    pooled).

    Examples:

      kgraft joint eval classes --model together --graph my-graph

      kgraft joint eval relations --model together --graph my-graph --data TEXTS
    """
    from kgraft.graph import Graph
    from kgraft.tasks import JOINT_TASKS

    JOINT_TASKS.check(task)
    opened = Graph.open(graph)
    need_joint_model(model)
    need_task_data(task, data)
    from kgraft.joint import JointModel
    from kgraft.tasks import evaluate_joint
    from kgraft.training import read_manifest

    JOINT_TASKS[task].refuse_learned(read_manifest(model, JointModel).facts, opened)
    load = partial(JointModel.from_pretrained, model)
    with progress_bar(quiet) as progress:
        difference = evaluate_joint(task, load, opened, data, seeds=seeds, progress=progress)
    print_difference(task, difference, as_json=as_json)
