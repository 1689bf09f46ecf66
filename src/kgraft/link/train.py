"""Train a link model for a graph, from annotated texts or from the graph alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.graph.annotated import Annotated
from kgraft.link.knowledge import Knowledge
from kgraft.link.lessons import Marked, Unmarked
from kgraft.link.model import LinkConfig, LinkModel
from kgraft.link.settings import LinkSettings
from kgraft.link.trainee import LinkTrainee
from kgraft.progress import Progress
from kgraft.storage import Kind, new_folder, refuse_existing
from kgraft.training import Epoch, Schedule, stream, train
from kgraft.training.folder import RunFolder, run_folder

LINKER = Kind("link model", "config.json")
_PARTS = 2  # what a stream of random numbers is for


def train_linker(
    graph: Graph,
    data: Annotated,
    out: Path,
    *,
    valid: Annotated | None = None,
    settings: LinkSettings | None = None,
    start: str | Path | None = None,
    encoder: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train on annotated texts and write the model to `out`, yielding after each epoch.

    `start` names a model to go on from. The epoch and the threshold are those with the best weak F1
    on `valid`. Interrupted or killed, the same call goes on at the last checkpoint.
    """
    settings = settings or LinkSettings()
    refuse_existing(out, LINKER, overwrite=overwrite)
    if not len(data.text):
        raise BadInput("no mention is marked in the texts", remedy="mark some")
    model = _model(start, encoder, settings)
    knowledge = Knowledge.of(graph, model, progress=progress)
    parts = _parts(model, knowledge, data, settings)
    trainee = LinkTrainee(model, knowledge, parts, valid or None, settings)
    identity = {
        **asdict(settings),
        "graph": graph.manifest.version,
        "texts": data.digest(),
        "valid": valid.digest() if valid else "",
        "start": model.digest(),
    }
    schedule = Schedule(
        epochs=settings.epochs * len(parts),
        watch="weak_f1",
        patience=settings.patience if valid else None,
    )
    folder = run_folder(out)
    if overwrite:
        RunFolder(folder, identity).make_way()
    yield from train(
        trainee,
        folder,
        schedule,
        identity=identity,
        remedy=f"lower the learning rate: --learning-rate {settings.learning_rate / 3:.2g}",
        progress=progress,
    )
    figures = trainee.validate()
    model.config.threshold = figures.get("threshold", model.config.threshold)
    with new_folder(out, LINKER, overwrite=overwrite) as written:
        model.save_pretrained(written)
        shutil.copyfile(folder / "log.jsonl", written / "log.jsonl")
    shutil.rmtree(folder, ignore_errors=True)


def _model(start: str | Path | None, encoder: str | None, settings: LinkSettings) -> LinkModel:
    if start is not None:
        return LinkModel.from_pretrained(start)
    with torch.random.fork_rng([]):
        torch.manual_seed(settings.seed)
        return LinkModel(LinkConfig(encoder=encoder, rank=settings.rank))


def _parts(
    model: LinkModel, knowledge: Knowledge, data: Annotated, settings: LinkSettings
) -> list[Marked]:
    """Return the texts in random parts of equal size."""
    order = stream(settings.seed, _PARTS).permutation(len(data))
    count = -(-len(data) // settings.part)
    unmarked = Unmarked(settings.unmarked_names, settings.unmarked_words)
    if not settings.partial:
        unmarked = replace(unmarked, name=1.0, word=1.0)
    parts = (np.sort(part) for part in np.array_split(order, count))
    return [Marked.of(model, knowledge, data.part(part), unmarked) for part in parts]
