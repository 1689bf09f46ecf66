"""Pre-train graph and language together."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgraft.corpus import AnnotatedTexts
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint.descriptions import Descriptions
from kgraft.joint.heads import Heads
from kgraft.joint.model import JointModel
from kgraft.joint.saving import JOINT, read_facts, save_joint
from kgraft.joint.settings import PretrainSettings, config_of
from kgraft.joint.texts import LinkedWindows
from kgraft.joint.trainee import JointTrainee
from kgraft.progress import Progress
from kgraft.storage import new_folder, refuse_existing
from kgraft.text import Encoder
from kgraft.training import Epoch, Processes, Schedule, train
from kgraft.training.folder import RunFolder, run_folder
from kgraft.training.seeds import seeded
from kgraft.vectors.memory import Memory

SOME = 256  # entities whose descriptions tell how loud LM1 is


def pretrain(
    model: JointModel,
    graph: Graph,
    texts: AnnotatedTexts,
    out: str | Path,
    *,
    valid: AnnotatedTexts | None = None,
    settings: PretrainSettings | None = None,
    identity: Mapping[str, Any] | None = None,
    knowing: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Pre-train a joint model on a graph and linked texts, and write it to `out`.

    Yields after each epoch. With `knowing` false the texts are read without the graph. Interrupted
    or killed, the same call goes on at the last checkpoint and ends with the same bits.
    """
    out, settings = Path(out), settings or PretrainSettings()
    if not len(texts):
        raise BadInput("there is no text to learn from", remedy="give more texts")
    refuse_existing(out, JOINT, overwrite=overwrite)
    processes, folder = Processes.here(), run_folder(out)
    whole = {
        **asdict(settings), "model": asdict(model.config), "graph": graph.manifest.version,
        "texts": texts.digest(), "encoder": model.encoder.name, "knowing": knowing,
        **(identity or {}),
    }  # fmt: skip
    if overwrite and processes.main:
        RunFolder(folder, whole).make_way()
    processes.wait()
    begin_alike(model, graph)
    trainee = JointTrainee(
        model,
        new_heads(model, graph, settings.seed),
        graph,
        _memory(model, graph, folder, whole),
        _linked(model, texts),
        None if valid is None or not len(valid) else _linked(model, valid),
        settings,
        knowing=knowing,
        processes=processes,
        progress=progress if processes.main else None,
    )
    yield from train(
        trainee,
        folder,
        Schedule(epochs=settings.epochs, watch="score"),
        identity=whole,
        remedy="lower the learning rates",
        processes=processes,
        progress=progress,
    )
    if processes.main:
        with new_folder(out, JOINT, overwrite=overwrite) as written:
            save_joint(model, written, heads=trainee.heads, facts=whole)
            shutil.copyfile(folder / "log.jsonl", written / "log.jsonl")
        shutil.rmtree(folder, ignore_errors=True)
    processes.wait()


def new_heads(model: JointModel, graph: Graph, seed: int) -> Heads:
    """Return heads that have learnt nothing, for a model and a graph."""
    words = model.encoder.model.get_input_embeddings().num_embeddings
    sizes = (model.encoder.dimension, words, model.config.categories, max(len(graph.relations), 1))
    with seeded(seed):
        return Heads(*sizes).to(model.encoder.device)


def fresh_joint(folder: str | Path, graph: Graph, encoder: str | Path | None = None) -> JointModel:
    """Return a model of the shape of one in a folder that has learnt nothing of any graph.

    `encoder` is what that one was trained from, where it is no longer found by its name.
    """
    told = read_facts(Path(folder))
    name = encoder or told["facts"]["encoder"]
    model = JointModel(Encoder.load(name, max_length=told["max_length"]), config_of(told))
    begin_alike(model, graph)
    return model


def begin_alike(model: JointModel, graph: Graph) -> None:
    """Let the merging norm begin as good as silent, in a model that has learnt nothing yet."""
    if model.language.begun:
        return
    some = np.linspace(0, len(graph.entities) - 1, min(SOME, len(graph.entities))).astype(np.int64)
    if len(some):
        read = Descriptions(graph, model.language).read("entities", some)
        model.language.begin_alike(torch.from_numpy(read))


def _memory(model: JointModel, graph: Graph, folder: Path, whole: Mapping[str, Any]) -> Memory:
    """Return the memory of a run; another run in the same folder has another."""
    name = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:8]
    return Memory(
        folder / f"memory-{name}", entities=len(graph.entities), relations=len(graph.relations),
        size=model.encoder.dimension,
    )  # fmt: skip


def _linked(model: JointModel, data: AnnotatedTexts) -> LinkedWindows:
    return LinkedWindows.of(model.encoder.windows(data.texts), data)
