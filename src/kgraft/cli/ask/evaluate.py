"""`kgraft ask eval`: what the graph adds to answers of a joint model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_data, need_joint_model
from kgraft.cli.joint.options import JointModelOption, Seeds, print_difference
from kgraft.cli.output import AsJson, GraphOption, Quiet
from kgraft.progress import progress_bar


def eval_(
    model: JointModelOption,
    data: Annotated[
        Path, typer.Option(help="The folder with train.jsonl, dev.jsonl and test.jsonl.")
    ],
    graph: GraphOption = "world",
    seeds: Seeds = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a joint model on questions with the graph's knowledge on and off, and compare.

    The figure is the fraction of test questions that the best entity answers (Hits@1). The interval
    holds the difference in 95 of 100 cases (paired bootstrap over the questions, seeds pooled).

    Example:

      kgraft ask eval --model together --graph movies --data QUESTIONS
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_joint_model(model)
    need_data(data, "train.jsonl", "dev.jsonl", "test.jsonl")
    from kgraft.ask import measure_answers
    from kgraft.joint import JointModel, compare_knowledge

    load = partial(JointModel.from_pretrained, model)
    measure = partial(measure_answers, data=data)
    with progress_bar(quiet) as progress:
        difference = compare_knowledge(measure, load, opened, seeds=seeds, progress=progress)
    print_difference("questions", difference, as_json=as_json)
