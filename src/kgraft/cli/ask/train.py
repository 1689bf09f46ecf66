"""`kgraft ask train`: fine-tune a joint model to answer questions over a graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.ask.settings import AnswererConfig, AnswererSettings
from kgraft.cli.given import need_data, need_joint_model, need_room
from kgraft.cli.output import (
    AsJson,
    GraphOption,
    Overwrite,
    Quiet,
    epoch_line,
    print_trained,
)
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.progress import Progress, progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.joint import FineTuning
    from kgraft.training import Epoch


@settings_options(AnswererConfig, parameter="shape")
@settings_options(AnswererSettings)
def train(
    model: Annotated[
        Path, typer.Option("--model", "-m", help="A folder of 'kgraft joint pretrain'.")
    ],
    data: Annotated[Path, typer.Option(help="The folder with train.jsonl and dev.jsonl.")],
    graph: GraphOption = "world",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path(
        "answerer"
    ),
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    shape: Changes,
    changes: Changes,
) -> None:
    """Fine-tune a joint model to answer questions over a graph.

    A line of train.jsonl and dev.jsonl (or .jsonl.gz) is a question, what it is about, and all its
    answers, by label or id; dev chooses the epoch:

      {"text": "who directed Alien", "mentions": [{"start": 13, "end": 18, "label": "Alien"}],
      "answers": ["Ridley Scott"]}

    Interrupted or killed, the same command resumes where it stopped.

    Examples:

      kgraft ask train --model together --graph movies --data QUESTIONS --out answerer

      kgraft ask "who directed Alien" --model answerer --graph movies
    """
    from kgraft.graph import Graph

    opened = Graph.open(graph)
    need_joint_model(model)
    need_data(data, "train.jsonl", "dev.jsonl")
    need_room(out, overwrite=overwrite)
    from kgraft.ask import Questions, train_answerer
    from kgraft.joint import JointModel
    from kgraft.training import read_manifest

    settings = AnswererSettings().replace(**changes)
    questions, valid = (Questions.read(data / f"{name}.jsonl", opened) for name in ("train", "dev"))
    if not quiet:
        counts = f"{len(questions):,} questions, {len(valid):,} to validate"
        print(f"{counts}; seed {settings.seed}", file=sys.stderr)
    figures: dict[str, float] = {}
    with progress_bar(quiet) as progress:
        for epoch in train_answerer(
            _fine_tuning(model, opened, settings.seed, progress),
            questions,
            valid,
            out,
            settings=settings,
            config=AnswererConfig().replace(**shape),
            model_facts=read_manifest(model, JointModel).facts,
            overwrite=overwrite,
        ):
            figures = _report(epoch, quiet=quiet)
    print_trained(out, figures, f"ask with  kgraft ask QUESTION -m {out}", as_json=as_json)


def _fine_tuning(model: Path, graph: Graph, seed: int, progress: Progress) -> FineTuning:
    """Open a joint model to be fine-tuned over a graph."""
    from kgraft.joint import FineTuning, JointModel

    return FineTuning(JointModel.from_pretrained(model), graph, seed, progress=progress)


def _report(epoch: Epoch, *, quiet: bool) -> dict[str, float]:
    """Print an epoch, and return its losses and figures."""
    if not quiet:
        print(epoch_line(epoch, epoch.losses, epoch.figures), file=sys.stderr)
    return {"epoch": epoch.number, **epoch.losses, **epoch.figures}
