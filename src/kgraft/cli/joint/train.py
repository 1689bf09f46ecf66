"""`kgraft joint train`: fine-tune a joint model to answer questions over a graph, and keep it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kgraft.cli.given import need_data, need_joint_model, need_room
from kgraft.cli.output import (
    MOST_EPOCHS,
    AsJson,
    GraphOption,
    Overwrite,
    Quiet,
    Seed,
    console,
    epoch_line,
    escape,
    print_json,
)
from kgraft.progress import progress_bar


def train(
    model: Annotated[
        Path, typer.Option("--model", "-m", help="A folder of 'kgraft joint pretrain'.")
    ],
    data: Annotated[Path, typer.Option(help="The folder with train.jsonl and dev.jsonl.")],
    graph: GraphOption = "world",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path(
        "answerer"
    ),
    hops: Annotated[int, typer.Option(min=1, max=10, help="Facts between topic and answer.")] = 3,
    epochs: Annotated[
        int, typer.Option(min=1, max=MOST_EPOCHS, help="Passes over the questions.")
    ] = 3,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a joint model to answer questions over a graph.

    A line of train.jsonl and dev.jsonl (or .jsonl.gz) is a question, what it is about, and all its
    answers, by label or id; dev chooses the epoch:

      {"text": "who directed Alien", "mentions": [{"start": 13, "end": 18, "label": "Alien"}],
      "answers": ["Ridley Scott"]}

    Interrupted or killed, the same command goes on where it stopped.

    Examples:

      kgraft joint train --model together --graph movies --data QUESTIONS --out answerer

      kgraft joint answer "who directed Alien" --model answerer --graph movies
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_joint_model(model)
    need_data(data, "train.jsonl", "dev.jsonl")
    need_room(out, overwrite=overwrite)
    from kgraft.joint import load_joint
    from kgraft.joint.saving import read_facts
    from kgraft.tasks.answering import train_answerer
    from kgraft.tasks.graph_answers import QuestionSettings
    from kgraft.tasks.graph_questions import Questions
    from kgraft.tasks.joint_tasks import FineTuning

    learnt, valid = (Questions.read(data / f"{name}.jsonl", opened) for name in ("train", "dev"))
    if not quiet:
        said = f"{len(learnt):,} questions, {len(valid):,} to choose by; seed {seed}"
        print(said, file=sys.stderr)
    told: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        tuning = FineTuning(load_joint(model), opened, seed, progress=progress)
        for epoch in train_answerer(
            tuning,
            learnt,
            valid,
            out,
            settings=QuestionSettings(hops=hops, epochs=epochs),
            made=read_facts(model)["facts"],
            overwrite=overwrite,
        ):
            if not quiet:
                print(epoch_line(epoch, epoch.losses, epoch.figures), file=sys.stderr)
            told = {"epoch": epoch.number, **epoch.losses, **epoch.figures}
    if as_json:
        print_json({"out": str(out), **told})
    else:
        console().print(f"[green]{escape(out)}[/]: ask it with  kgraft joint answer")
