"""A joint model that answers questions over a graph, fine-tuned, kept, and taken up again.

Its folder is that of a joint model, with the walker and its settings beside; it answers questions
over the graph it was fine-tuned on, and over any other that says its facts in like words.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Graph
from kgraft.joint import load_joint, open_memory
from kgraft.joint.saving import JOINT, save_joint
from kgraft.json_text import read_json_file
from kgraft.progress import Progress
from kgraft.storage import new_file, new_folder, refuse_existing
from kgraft.tasks.graph_answers import Answerer, QuestionSettings
from kgraft.tasks.graph_questions import Questions
from kgraft.tasks.joint_tasks import FineTuning, questions_to_learn
from kgraft.tensors import load_tensors, write_tensors
from kgraft.training import Epoch, train
from kgraft.training.folder import RunFolder, run_folder

SETTINGS, WALKER = "questions.json", "walker.safetensors"


def train_answerer(
    tuning: FineTuning,
    learnt: Questions,
    valid: Questions,
    out: str | Path,
    *,
    settings: QuestionSettings | None = None,
    made: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Iterator[Epoch]:
    """Fine-tune a joint model on questions, and write what answers others to `out`.

    Yields after each epoch. Interrupted or killed, the same call goes on at the last checkpoint and
    ends with the same bits. `made` says how the model was pre-trained (`saving.read_facts`).
    """
    out = Path(out)
    refuse_existing(out, JOINT, overwrite=overwrite)
    trainee, schedule = questions_to_learn(tuning, learnt, valid, settings)
    answerer, folder = trainee.answerer, run_folder(out)
    whole = {
        **asdict(answerer.settings), "graph": tuning.graph.manifest.version,
        "questions": learnt.digest(), "knowing": tuning.knowing, "made": dict(made or {}),
    }  # fmt: skip
    if overwrite:
        RunFolder(folder, whole).make_way()
    yield from train(trainee, folder, schedule, identity=whole, progress=tuning.progress)
    with new_folder(out, JOINT, overwrite=overwrite) as written:
        save_answerer(answerer, written, facts={**whole.pop("made"), "answering": whole})
        shutil.copyfile(folder / "log.jsonl", written / "log.jsonl")
    shutil.rmtree(folder, ignore_errors=True)


def save_answerer(answerer: Answerer, folder: Path, *, facts: Mapping[str, Any]) -> None:
    """Write an answerer into a folder; `facts` say how it was made."""
    save_joint(answerer.model, folder, facts=facts)
    write_tensors(folder / WALKER, answerer.walker.state_dict())
    with new_file(folder / SETTINGS) as partial:
        told = {**asdict(answerer.settings), "knowing": answerer.knowing}
        partial.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def load_answerer(
    folder: str | Path, graph: Graph, *, progress: Progress | None = None
) -> Answerer:
    """Load an answerer for a graph, whose descriptions are read once."""
    folder = Path(folder)
    if not (folder / SETTINGS).is_file():
        raise NotFound(f"no answerer at {folder}; give the folder that 'kgraft joint train' wrote")
    try:
        told = read_json_file(folder / SETTINGS)
        knowing = bool(told.pop("knowing"))
        settings = _read_settings(told)
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:
        reason = f"cannot be read ({type(error).__name__}: {error})"
        raise BadInput(reason, file=str(folder / SETTINGS)) from error
    model = load_joint(folder)
    memory = open_memory(model, graph, progress=progress)
    answerer = Answerer(model, graph, memory, settings, knowing=knowing)
    load_tensors(answerer.walker, folder / WALKER)
    return answerer.eval()


def _read_settings(told: dict[str, Any]) -> QuestionSettings:
    """Return stored settings; a TypeError tells which is of another kind than it should be."""
    for name, default in asdict(QuestionSettings()).items():
        if type(told[name]) is not type(default):
            raise TypeError(f"{name} is {told[name]!r}")
    return QuestionSettings(**told)
